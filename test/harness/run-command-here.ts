import { tmpdir } from "node:os";
import { runCommandLine } from "../../src/cli/run-command-line.ts";
import type { CommandOutcome } from "./gateway-process.ts";

/**
 * Runs one command to its end in this process, without the half second that Node takes to load it: for what commands
 * do. Signals, pipes and the start itself are tested with `runCommand`, which starts it as users do.
 */
export async function runCommandHere(
  words: readonly string[],
  { environment, input = "" }: { environment: Record<string, string>; input?: string },
): Promise<CommandOutcome> {
  let stdout = "";
  let stderr = "";
  const exitCode = await runCommandLine(words, {
    settingsPlace: { environment, directory: tmpdir() },
    isTerminal: false,
    print: (line) => {
      stdout += `${line}\n`;
    },
    printNote: (line) => {
      stderr += `${line}\n`;
    },
    readInput: async () => input,
  });
  return { exitCode, stdout, stderr };
}
