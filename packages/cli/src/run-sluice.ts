import { ApiError } from "./api-error.ts";
import { CliError, type ExitCode, exitCodes } from "./cli-error.ts";
import type { CommandDefinition } from "./command-definition.ts";
import { commandTable } from "./command-table.ts";
import { type Environment, readEnvironment } from "./environment.ts";
import { createInterruption, type Interruption } from "./interruption.ts";
import { findNearest } from "./nearest-word.ts";
import { cleanText } from "./paint.ts";
import { readOptions } from "./read-options.ts";
import { presentCommand, presentGroup, presentOverview } from "./show-help.ts";
import { createTerminal, type Terminal } from "./terminal.ts";
import { version } from "./version.ts";

/** Runs the command; reports errors and returns the exit code. */
export async function runSluice(args: readonly string[]): Promise<ExitCode> {
  const environment = readEnvironment();
  const terminal = createTerminal({ isJson: args.includes("--json"), environment });
  const interruption = createInterruption(() => process.exit(exitCodes.interrupted));
  process.on("SIGINT", interruption.hit);
  process.stdout.on("error", endWhenUnread);
  try {
    return await dispatch(args, { terminal, environment, interruption });
  } catch (error) {
    return report(error, terminal, interruption.signal);
  } finally {
    process.off("SIGINT", interruption.hit);
  }
}

/** EPIPE is not an error: `sluice … | head` closes the pipe early. */
function endWhenUnread(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(exitCodes.done);
  throw error;
}

type Surroundings = { terminal: Terminal; environment: Environment; interruption: Interruption };

async function dispatch(args: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  const { terminal } = surroundings;
  const ordered = putCommandFirst(args);
  const command = findCommand(ordered);
  const asksForHelp = ordered.includes("--help") || ordered.includes("-h") || ordered[0] === "help";
  if (command === null || asksForHelp) return showHelp(ordered, asksForHelp, terminal);
  requireKnownCommand(command, ordered);
  const { words, options } = readCommand(command, ordered.slice(command.name.split(" ").length));
  return await command.run({ words, options, ...surroundings });
}

/** Common options may precede the command. */
function putCommandFirst(args: readonly string[]): readonly string[] {
  let count = 0;
  while (args[count]?.startsWith("--") && !["--help", "--version"].includes(args[count] ?? "")) {
    count += args[count] === "--site" ? 2 : 1;
  }
  return [...args.slice(count), ...args.slice(0, count)];
}

/** The longest match: `tasks cancel` rather than `tasks`. */
function findCommand(args: readonly string[]): CommandDefinition | null {
  const line = `${args.join(" ")} `;
  const fitting = commandTable.filter(({ name }) => line.startsWith(`${name} `));
  return fitting.toSorted((one, other) => other.name.length - one.name.length)[0] ?? null;
}

function readCommand(command: CommandDefinition, args: readonly string[]) {
  try {
    return readOptions(command, args);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new CliError(error.message, { exitCode: error.exitCode, remedy: `See: sluice ${command.name} --help` });
  }
}

function listGroup(word: string | undefined): readonly CommandDefinition[] {
  return commandTable.filter(({ name }) => name.startsWith(`${word} `));
}

/** In `tasks cancle`, the second word is a misspelled command, not an argument of `tasks`. */
function requireKnownCommand({ name }: CommandDefinition, args: readonly string[]): void {
  const next = args[name.split(" ").length];
  if (next !== undefined && !next.startsWith("-") && listGroup(name).length > 0) throw createUnknown([name, next]);
}

/** Suggests the closest command and the help. */
function createUnknown(words: readonly string[]): CliError {
  const [first = "", second] = words;
  const group = listGroup(first);
  const typed = group.length > 0 && second !== undefined ? `${first} ${second}` : first;
  const names = group.length > 0 ? group.map(({ name }) => name) : commandTable.map(({ name }) => name);
  const firstWords = group.length > 0 ? [] : names.map((name) => name.split(" ")[0] ?? "");
  const nearest = findNearest(typed, [...new Set([...firstWords, ...names])]);
  return new CliError(`Unknown command "${cleanText(typed)}".`, {
    exitCode: exitCodes.misused,
    remedy: [
      ...(nearest === null ? [] : [`Did you mean: sluice ${nearest}`]),
      group.length > 0 ? `See: sluice help ${first}` : "See: sluice help",
    ].join("\n  "),
  });
}

function showHelp(args: readonly string[], asksForHelp: boolean, terminal: Terminal): ExitCode {
  if (args[0] === "--version") {
    terminal.print(terminal.isJson ? JSON.stringify({ version }) : version);
    return exitCodes.done;
  }
  const words = args.filter((word) => !word.startsWith("-") && word !== "help");
  const command = findCommand(words);
  const group = listGroup(words[0]);
  const isGroup = command === null && group.length > 0;
  if (words.length > 0 && command === null && !isGroup) throw createUnknown(words);
  if (isGroup && words.length > 1) throw createUnknown(words);
  if (command !== null && asksForHelp) requireKnownCommand(command, words);
  const { paint } = terminal;
  if (command !== null) terminal.print(presentCommand(command, paint, listGroup(command.name)));
  else if (isGroup) terminal.print(presentGroup(words[0] ?? "", group, paint));
  else terminal.print(presentOverview(commandTable, paint));
  // An incomplete command such as `webhooks` is a usage error.
  return asksForHelp || words.length === 0 ? exitCodes.done : exitCodes.misused;
}

function report(error: unknown, terminal: Terminal, interrupted: AbortSignal): ExitCode {
  if (interrupted.aborted) {
    if (!terminal.isJson) terminal.complain("Interrupted.");
    return exitCodes.interrupted;
  }
  const exitCode = error instanceof CliError ? error.exitCode : exitCodes.failed;
  if (terminal.isJson) terminal.complain(JSON.stringify({ error: presentForPrograms(error) }));
  else terminal.complain(presentForPeople(error, terminal));
  return exitCode;
}

function presentForPrograms(error: unknown): Record<string, unknown> {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ApiError) {
    const { status, code, param, requestId: request_id, remedy } = error;
    return { message, status, code, param, request_id, remedy };
  }
  return { message, remedy: error instanceof CliError ? error.remedy : null };
}

function presentForPeople(error: unknown, { paintError }: Terminal): string {
  if (!(error instanceof CliError)) {
    return `${paintError.red("✗")} Unexpected error: ${error instanceof Error ? error.message : error}`;
  }
  const lines = [`${paintError.red("✗")} ${cleanText(error.message)}`];
  if (error instanceof ApiError && error.param !== null) lines.push(`  About: ${cleanText(error.param)}`);
  if (error.remedy !== null) lines.push(`  ${error.remedy}`);
  if (error instanceof ApiError && error.status >= 500 && error.requestId !== null) {
    lines.push(`  If the problem persists, send the operator this request id: ${cleanText(error.requestId)}`);
  }
  return lines.join("\n");
}
