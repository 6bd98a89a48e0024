import { parseArgs } from "node:util";
import { createMisuse } from "./cli-error.ts";
import { type CommandDefinition, commonOptions, type Options, type OptionTable } from "./command-definition.ts";

type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

/** Throws a misuse whose sentence names the word at fault. */
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
  try {
    return parseArgs({
      args: [...args],
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
  } catch (error) {
    // Node's sentence names the option; what it goes on to say is about positional arguments.
    const [sentence = ""] = (error instanceof Error ? error.message : String(error)).split(/\. |\.$/);
    throw createMisuse(`${sentence.replaceAll("\n", " ")}.`);
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
  if (given.length < words.min) throw createMisuse(`Something is missing: ${words.shown}.`);
  const surplus = given[words.max];
  if (surplus !== undefined) throw createMisuse(`"${surplus}" is a word too many.`);
  for (const word of given) requireChoice(words.shown, word, words.choices);
}
