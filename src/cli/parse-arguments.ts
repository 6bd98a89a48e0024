import { parseArgs } from "node:util";
import { findNearest } from "../lib/nearest-word.ts";
import type { Command } from "./command.ts";
import { callCommand } from "./present-help.ts";
import { UsageError } from "./usage-error.ts";

type OptionToken = { name: string; rawName: string; value?: string | undefined; inlineValue?: boolean | undefined };

/** Parses a command's arguments. Throws a `UsageError` with the fix. */
export function parseArguments(
  command: Command,
  words: readonly string[],
): { positionals: string[]; options: Record<string, string> } {
  const known = command.options ?? {};
  const names = command.positionals ?? [];
  const remedy = `See: ${callCommand(command.name)} --help`;
  // Not strict: our own messages are clearer than Node's.
  const { positionals, tokens } = parseArgs({
    args: keepNegatives(command, words),
    strict: false,
    tokens: true,
    allowPositionals: true,
    options: Object.fromEntries(
      Object.entries(known).map(([name, { placeholder }]) => [
        name,
        { type: placeholder === null ? ("boolean" as const) : ("string" as const) },
      ]),
    ),
  });
  const options: Record<string, string> = {};
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const problem = findProblem(token, known);
    if (problem !== null) throw new UsageError(problem, remedy);
    if (token.value !== undefined || known[token.name]?.placeholder === null) options[token.name] = token.value ?? "";
  }
  const missing = Object.keys(known).find((name) => known[name]?.isRequired === true && !options[name]);
  if (missing !== undefined) throw new UsageError(`--${missing} is required.`, remedy);
  const surplus = positionals[names.length];
  if (surplus !== undefined) throw new UsageError(`Unexpected argument "${surplus}".`, remedy);
  const shown = names.map((name) => `<${name}>`).join(" ");
  if (positionals.length < names.length)
    throw new UsageError(`Missing argument. Usage: ${command.name} ${shown}`, remedy);
  return { positionals, options };
}

function findProblem(
  { name, rawName, value, inlineValue }: OptionToken,
  known: NonNullable<Command["options"]>,
): string | null {
  if (name === "json") return value === undefined ? null : "--json takes no value.";
  const option = Object.hasOwn(known, name) ? known[name] : undefined;
  if (option === undefined) {
    const nearest = rawName.startsWith("--") ? findNearest(name, [...Object.keys(known), "json", "help"]) : null;
    return `Unknown option ${rawName}.${nearest === null ? "" : ` Did you mean --${nearest}?`}`;
  }
  if (option.placeholder === null) return value === undefined ? null : `--${name} takes no value.`;
  if (value === undefined || value === "--") return `--${name} needs a value: --${name} <${option.placeholder}>.`;
  if (inlineValue === false && value.startsWith("--")) {
    return `--${name} needs a value, but "${value}" is an option. To use it as the value: --${name}=${value}`;
  }
  return null;
}

/** A negative amount is not an option: it is the value of the option before it, or an argument. */
function keepNegatives({ options = {} }: Command, words: readonly string[]): string[] {
  const kept: string[] = [];
  const alone: string[] = [];
  for (const word of words) {
    const before = kept.at(-1) ?? "";
    if (!/^-\d/.test(word)) kept.push(word);
    else if (before.startsWith("--") && Object.hasOwn(options, before.slice(2))) kept.push(`${kept.pop()}=${word}`);
    else alone.push(word);
  }
  return [...kept, "--", ...alone];
}
