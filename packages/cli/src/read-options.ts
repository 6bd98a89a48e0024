import { parseArgs } from "node:util";
import { createMisuse } from "./cli-error.ts";
import { type CommandDefinition, commonOptions, type Options, type OptionTable } from "./command-definition.ts";
import { findNearest } from "./nearest-word.ts";

type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

/** Throws a usage error that names the invalid argument. */
export function readOptions(
  command: CommandDefinition,
  args: readonly string[],
): { words: readonly string[]; options: Options } {
  const table: OptionTable = { ...commonOptions, ...command.options };
  const { values, positionals } = parse(table, args);
  const options = createOptions(values);
  for (const [name, { choices }] of Object.entries(table)) {
    for (const value of [options.text(name) ?? [], options.list(name)].flat())
      requireChoice(`--${name}`, value, choices);
  }
  requireWords(command, positionals);
  return { words: positionals, options };
}

function parse(table: OptionTable, args: readonly string[]): { values: Values; positionals: string[] } {
  // Not strict: our own errors name the argument as typed.
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    strict: false,
    tokens: true,
    allowPositionals: true,
    options: Object.fromEntries(
      Object.entries(table).map(([name, { placeholder, isList, short }]) => [
        name,
        {
          type: placeholder === undefined ? ("boolean" as const) : ("string" as const),
          ...(isList === undefined ? {} : { multiple: true }),
          ...(short === undefined ? {} : { short }),
        },
      ]),
    ),
  });
  for (const token of tokens) if (token.kind === "option") requireUsable(token, table);
  return { values, positionals };
}

type OptionToken = { name: string; rawName: string; value?: string | undefined; inlineValue?: boolean | undefined };

function requireUsable({ name, rawName, value, inlineValue }: OptionToken, table: OptionTable): void {
  const option = Object.hasOwn(table, name) ? table[name] : undefined;
  if (option === undefined) {
    const nearest = rawName.startsWith("--") ? findNearest(name, Object.keys(table)) : null;
    const hint = nearest === null ? "" : ` Did you mean --${nearest}?`;
    throw createMisuse(`Unknown option ${rawName}.${hint}`);
  }
  if (option.placeholder === undefined) {
    if (value !== undefined) throw createMisuse(`--${name} takes no value.`);
    return;
  }
  if (value === undefined) throw createMisuse(`--${name} needs a value: --${name} <${option.placeholder}>.`);
  if (inlineValue === false && /^-[^\d]/.test(value)) {
    throw createMisuse(
      `--${name} needs a value, but "${value}" is an option. To use it as the value: --${name}=${value}`,
    );
  }
}

function createOptions(values: Values): Options {
  const text = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === "string" ? value : undefined;
  };
  const number = (name: string, isRight: (value: number) => boolean, kind: string): number | undefined => {
    const given = text(name);
    if (given === undefined) return undefined;
    const value = Number(given);
    if (given.trim() === "" || !isRight(value)) throw createMisuse(`--${name} takes ${kind}, not "${given}".`);
    return value;
  };
  return {
    has: (name) => values[name] === true,
    text,
    list(name) {
      const value = values[name];
      return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
    },
    integer: (name) => number(name, Number.isSafeInteger, "a whole number"),
    number: (name) => number(name, Number.isFinite, "a number"),
  };
}

function requireChoice(place: string, value: string, choices: readonly string[] | undefined): void {
  if (choices === undefined || choices.includes(value)) return;
  throw createMisuse(`${place} can be ${choices.join(", ")}, not "${value}".`);
}

function requireWords({ words = { shown: "", min: 0, max: 0 } }: CommandDefinition, given: readonly string[]): void {
  if (given.length < words.min) throw createMisuse(`Missing argument: ${words.shown}.`);
  const surplus = given[words.max];
  if (surplus !== undefined) throw createMisuse(`Unexpected argument "${surplus}".`);
  for (const word of given) requireChoice(words.shown, word, words.choices);
}
