import { findNearest } from "../lib/nearest-word.ts";
import { isDatabaseUnavailable } from "../platform/database/database.ts";
import { AppError } from "../platform/errors/app-error.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import type { CommandEnvironment, Terminal } from "./command.ts";
import { findCommandAccess } from "./command-access.ts";
import { commandWords, findCommand, loadAllCommands, loadGroup } from "./commands.ts";
import { describeRun } from "./describe-run.ts";
import { findRemoteGateway } from "./find-remote-gateway.ts";
import { getActing } from "./get-acting.ts";
import { parseArguments } from "./parse-arguments.ts";
import { callCommand, presentCommandHelp, presentGroupHelp, presentHelp } from "./present-help.ts";
import { UsageError } from "./usage-error.ts";

/** Scripts rely on these. */
const exitCodes = { done: 0, failed: 1, misused: 2 } as const;

/** Runs a command and returns its exit code. */
export async function runCommandLine(words: readonly string[], environment: CommandEnvironment): Promise<number> {
  const terminal = { ...environment, isJson: words.includes("--json"), auditEntry: null };
  try {
    const remote = environment.host === undefined ? findRemoteGateway(words) : null;
    if (remote === null) return await runCommand(words, terminal);
    // Loaded on demand: a local command needs no HTTP client.
    const { runRemotely } = await import("./run-remotely.ts");
    return await runRemotely(remote, terminal);
  } catch (error) {
    reportError(error, terminal);
    return error instanceof UsageError ? exitCodes.misused : exitCodes.failed;
  }
}

async function runCommand(words: readonly string[], terminal: Terminal): Promise<number> {
  const asksForHelp = words.length === 0 || words[0] === "help" || words.includes("--help") || words.includes("-h");
  const command = await findCommand(words);
  if (command === null || asksForHelp) return await showHelp(words, { asksForHelp, terminal });
  const input = parseArguments(command, words.slice(command.name.split(" ").length));
  const access = findCommandAccess(command);
  // Remote runs are in the audit log already.
  const isAudited = access?.access === "write" && terminal.host === undefined;
  const auditEntry = isAudited ? describeRun(command, input, { access, acting: getActing() }) : null;
  const result = await command.run({ ...input, terminal: { ...terminal, auditEntry } });
  if (result !== null) terminal.print(terminal.isJson ? JSON.stringify(result.json) : result.text);
  return result?.hasFailed === true ? exitCodes.failed : exitCodes.done;
}

/** Help for a command, a group or all commands. An incomplete command shows its group. */
async function showHelp(
  words: readonly string[],
  { asksForHelp, terminal }: { asksForHelp: boolean; terminal: Terminal },
): Promise<number> {
  const asked = words.filter((word) => !word.startsWith("-") && word !== "help");
  const [first, second] = asked;
  const command = await findCommand(asked);
  const group = await loadGroup(first ?? "");
  if (command === null && first !== undefined && (group.length === 0 || second !== undefined)) {
    throw await createUnknown(asked);
  }
  if (command !== null) terminal.print(presentCommandHelp(command));
  else if (first === undefined) terminal.print(presentHelp(await loadAllCommands()));
  else if (asksForHelp) terminal.print(presentGroupHelp(first, group));
  else terminal.printNote(presentGroupHelp(first, group));
  return asksForHelp ? exitCodes.done : exitCodes.misused;
}

/** Suggests the closest command. */
async function createUnknown([first = "", second]: readonly string[]): Promise<UsageError> {
  const group = await loadGroup(first);
  const isInGroup = group.length > 0 && second !== undefined;
  const typed = isInGroup ? `${first} ${second}` : first;
  const nearest = findNearest(typed, isInGroup ? group.map(({ name }) => name) : commandWords);
  const hints = [
    ...(nearest === null ? [] : [`Did you mean: ${callCommand(nearest)}`]),
    `See: ${callCommand(isInGroup ? `help ${first}` : "help")}`,
  ];
  return new UsageError(`Unknown command "${typed}".`, hints.join("\n  "));
}

function reportError(error: unknown, terminal: Terminal): void {
  if (terminal.isJson) {
    terminal.printNote(JSON.stringify({ error: presentErrorForScripts(error) }));
  } else if (error instanceof OperatorError || error instanceof UsageError) {
    terminal.printNote(`\n✗ ${error.message}\n  ${error.remedy}\n`);
  } else if (error instanceof AppError) {
    terminal.printNote(`\n✗ ${error.message}\n`);
  } else if (isDatabaseUnavailable(error) && error instanceof Error) {
    terminal.printNote(
      `\n✗ The database is unavailable: ${error.message}\n  No changes were made. Run the command again.\n`,
    );
  } else {
    terminal.printNote(`\n✗ Unexpected error: ${error instanceof Error ? error.stack : String(error)}\n`);
  }
}

function presentErrorForScripts(error: unknown): Record<string, string> {
  if (error instanceof OperatorError || error instanceof UsageError)
    return { message: error.message, remedy: error.remedy };
  if (error instanceof AppError) return { message: error.message, code: error.code };
  return { message: error instanceof Error ? error.message : String(error) };
}
