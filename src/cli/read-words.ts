import { parseArgs } from "node:util";
import type { Command } from "./command.ts";
import { MisuseError } from "./misuse-error.ts";
import { findNearest } from "./nearest-word.ts";
import { callCommand } from "./present-help.ts";

type OptionToken = { name: string; rawName: string; value?: string | undefined; inlineValue?: boolean | undefined };

/** The options and words that a command was called with. Throws a sentence that names what is wrong with them. */
export function readWords(
  command: Command,
  words: readonly string[],
): { positionals: string[]; options: Record<string, string> } {
  const known = command.options ?? {};
  const names = command.positionals ?? [];
  const remedy = `See: ${callCommand(command.name)} --help`;
  // Node's own complaints are about how it parses; ours name what was typed.
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
    if (problem !== null) throw new MisuseError(problem, remedy);
    if (token.value !== undefined || known[token.name]?.placeholder === null) options[token.name] = token.value ?? "";
  }
  const missing = Object.keys(known).find((name) => known[name]?.isRequired === true && !options[name]);
  if (missing !== undefined) throw new MisuseError(`--${missing} is required.`, remedy);
  const surplus = positionals[names.length];
  if (surplus !== undefined) throw new MisuseError(`"${surplus}" is a word too many.`, remedy);
  const shown = names.map((name) => `<${name}>`).join(" ");
  if (positionals.length < names.length) throw new MisuseError(`Something is missing. Write ${shown}.`, remedy);
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
    return `There is no option ${rawName}.${nearest === null ? "" : ` Did you mean --${nearest}?`}`;
  }
  if (option.placeholder === null) return value === undefined ? null : `--${name} takes no value.`;
  if (value === undefined || value === "--") return `--${name} needs a value: --${name} <${option.placeholder}>.`;
  if (inlineValue === false && value.startsWith("--")) {
    return `--${name} needs a value, and "${value}" is an option. Where it is the value: --${name}=${value}`;
  }
  return null;
}

/** A negative amount is not an option, though it begins like one: it belongs to the option before it, or stands alone. */
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
