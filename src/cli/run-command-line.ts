import { isDatabaseUnavailable } from "../platform/database/database.ts";
import { AppError } from "../platform/errors/app-error.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import type { CommandSurroundings, Terminal } from "./command.ts";
import { commandWords, findCommand, loadAllCommands, loadGroup } from "./commands.ts";
import { MisuseError } from "./misuse-error.ts";
import { findNearest } from "./nearest-word.ts";
import { callCommand, presentCommandHelp, presentGroupHelp, presentHelp } from "./present-help.ts";
import { readWords } from "./read-words.ts";

/** How a command can end. Scripts rely on these numbers. */
const exitCodes = { done: 0, failed: 1, misused: 2 } as const;

/** Finds the command, reads its options, runs it, and turns whatever happens into text and the exit code it returns. */
export async function runCommandLine(words: readonly string[], surroundings: CommandSurroundings): Promise<number> {
  const terminal = { ...surroundings, isJson: words.includes("--json") };
  try {
    return await runCommand(words, terminal);
  } catch (error) {
    reportError(error, terminal);
    return error instanceof MisuseError ? exitCodes.misused : exitCodes.failed;
  }
}

async function runCommand(words: readonly string[], terminal: Terminal): Promise<number> {
  const asksForHelp = words.length === 0 || words[0] === "help" || words.includes("--help") || words.includes("-h");
  const command = await findCommand(words);
  if (command === null || asksForHelp) return await showHelp(words, { asksForHelp, terminal });
  const input = readWords(command, words.slice(command.name.split(" ").length));
  const result = await command.run({ ...input, terminal });
  if (result !== null) terminal.print(terminal.isJson ? JSON.stringify(result.json) : result.text);
  return result?.hasFailed === true ? exitCodes.failed : exitCodes.done;
}

/** Of a command, of a group of them, or of all; whoever typed half a command is shown what it could become. */
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
  else terminal.tell(presentGroupHelp(first, group));
  return asksForHelp ? exitCodes.done : exitCodes.misused;
}

/** Names what was typed, the command that was likely meant, and where to look. */
async function createUnknown([first = "", second]: readonly string[]): Promise<MisuseError> {
  const group = await loadGroup(first);
  const isInGroup = group.length > 0 && second !== undefined;
  const typed = isInGroup ? `${first} ${second}` : first;
  const nearest = findNearest(typed, isInGroup ? group.map(({ name }) => name) : commandWords);
  const hints = [
    ...(nearest === null ? [] : [`Did you mean: ${callCommand(nearest)}`]),
    `See: ${callCommand(isInGroup ? `help ${first}` : "help")}`,
  ];
  return new MisuseError(`There is no command "${typed}".`, hints.join("\n  "));
}

function reportError(error: unknown, terminal: Terminal): void {
  if (terminal.isJson) {
    terminal.tell(JSON.stringify({ error: presentErrorForScripts(error) }));
  } else if (error instanceof OperatorError || error instanceof MisuseError) {
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
  if (error instanceof OperatorError || error instanceof MisuseError)
    return { message: error.message, remedy: error.remedy };
  if (error instanceof AppError) return { message: error.message, code: error.code };
  return { message: error instanceof Error ? error.message : String(error) };
}
