import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { isDatabaseUnavailable } from "../platform/database/database.ts";
import { AppError } from "../platform/errors/app-error.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import type { Command, Terminal } from "./command.ts";
import { findCommand, loadAllCommands } from "./commands.ts";
import { presentCommandHelp, presentHelp } from "./present-help.ts";

const failedExitCode = 1;
const misusedExitCode = 2;

/** Finds the command, reads its options, runs it, and turns whatever happens into text and an exit code. */
export async function runCommandLine(words: readonly string[]): Promise<void> {
  const terminal = createTerminal(words.includes("--json"));
  try {
    process.exitCode = await runCommand(words, terminal);
  } catch (error) {
    reportError(error, terminal);
    process.exitCode = failedExitCode;
  }
}

async function runCommand(words: readonly string[], terminal: Terminal): Promise<number> {
  const command = await findCommand(words);
  if (command === null) {
    const asksForHelp = words.length === 0 || ["help", "--help", "-h"].includes(words[0] ?? "");
    const help = presentHelp(await loadAllCommands());
    if (asksForHelp) terminal.print(help);
    else terminal.tell(`There is no command "${words.join(" ")}".\n\n${help}`);
    return asksForHelp ? 0 : misusedExitCode;
  }
  if (words.includes("--help") || words.includes("-h")) {
    terminal.print(presentCommandHelp(command));
    return 0;
  }
  const input = parseWords(command, words.slice(command.name.split(" ").length));
  if (typeof input === "string") {
    terminal.tell(`${input}\n\n${presentCommandHelp(command)}`);
    return misusedExitCode;
  }
  const result = await command.run({ ...input, terminal });
  if (result !== null) terminal.print(terminal.isJson ? JSON.stringify(result.json) : result.text);
  return result?.hasFailed === true ? failedExitCode : 0;
}

/** The options and words of a command, or a sentence that says what is wrong with them. */
function parseWords(command: Command, words: readonly string[]) {
  const known = command.options ?? {};
  const names = command.positionals ?? [];
  try {
    const { values, positionals } = parseArgs({
      args: [...words.filter((word) => !isNegative(word)), "--", ...words.filter(isNegative)],
      allowPositionals: names.length > 0,
      options: {
        json: { type: "boolean" },
        ...Object.fromEntries(Object.keys(known).map((name) => [name, { type: "string" as const }])),
      },
    });
    const options = Object.fromEntries(
      Object.entries(values).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
    );
    const missing = Object.keys(known).find((name) => known[name]?.isRequired === true && !options[name]);
    if (missing !== undefined) return `--${missing} is required.`;
    if (positionals.length !== names.length) return `Write ${names.map((name) => `<${name}>`).join(" ")}.`;
    return { positionals, options };
  } catch (error) {
    // Node's sentence names the option at fault.
    return error instanceof Error ? error.message : String(error);
  }
}

/** A negative amount is not an option, though it begins like one. */
function isNegative(word: string): boolean {
  return /^-\d/.test(word);
}

function createTerminal(isJson: boolean): Terminal {
  return {
    isJson,
    isTerminal: process.stdout.isTTY === true,
    print: (line) => process.stdout.write(`${line}\n`),
    tell: (line) => process.stderr.write(`${line}\n`),
    readInput: () => text(process.stdin),
  };
}

function reportError(error: unknown, terminal: Terminal): void {
  if (terminal.isJson) {
    terminal.tell(JSON.stringify({ error: presentErrorForScripts(error) }));
  } else if (error instanceof OperatorError) {
    terminal.tell(`\n✗ ${error.message}\n  ${error.remedy}\n`);
  } else if (error instanceof AppError) {
    terminal.tell(`\n✗ ${error.message}\n`);
  } else if (isDatabaseUnavailable(error) && error instanceof Error) {
    terminal.tell(
      `\n✗ The database cannot do this right now: ${error.message}\n  Nothing was changed. Run the command again.\n`,
    );
  } else {
    terminal.tell(`\n✗ Something unforeseen went wrong: ${error instanceof Error ? error.stack : String(error)}\n`);
  }
}

function presentErrorForScripts(error: unknown): Record<string, string> {
  if (error instanceof OperatorError) return { message: error.message, remedy: error.remedy };
  if (error instanceof AppError) return { message: error.message, code: error.code };
  return { message: error instanceof Error ? error.message : String(error) };
}
