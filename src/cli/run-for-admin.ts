import type { AdminCommands } from "../features/admin/index.ts";
import { appendAudit } from "../features/audit/index.ts";
import type { CommandHost } from "./command.ts";
import { findCommandAccess } from "./command-access.ts";
import { findCommand } from "./commands.ts";
import { describeRun } from "./describe-run.ts";
import { actAs } from "./get-acting.ts";
import { parseArguments } from "./parse-arguments.ts";
import { runCommandLine } from "./run-command-line.ts";
import { UsageError } from "./usage-error.ts";

/** Runs commands for remote callers, on the gateway's own connections. */
export const adminCommands: AdminCommands = {
  async find(words) {
    const command = await findCommand(words);
    const access = command === null ? null : findCommandAccess(command);
    if (command === null || access?.place !== "anywhere") return null;
    const isMoney = access.scope === "money" && access.access === "write";
    return { name: command.name, scope: access.scope, access: access.access, ...(isMoney ? { proof: "fresh" } : {}) };
  },
  async run(words, { acting, host }) {
    const lines: string[] = [];
    const notes: string[] = [];
    await auditRun(words, { acting, host });
    const exitCode = await actAs(acting, () =>
      runCommandLine(words, {
        host,
        // What is printed goes to the caller, not to a log.
        isTerminal: true,
        print: (text) => lines.push(text),
        printNote: (text) => notes.push(text),
        readInput: async () => {
          throw new UsageError("A remote command reads no standard input.", "Run it on a host of the gateway.");
        },
      }),
    );
    return { text: lines.join("\n"), notes: notes.join("\n"), exitCode };
  },
};

type Run = { acting: Parameters<AdminCommands["run"]>[1]["acting"]; host: CommandHost };

/** Before the command runs, so that no run is missing. Wrong arguments run nothing. */
async function auditRun(words: readonly string[], { acting, host }: Run): Promise<void> {
  const command = await findCommand(words);
  const access = command === null ? null : findCommandAccess(command);
  if (command === null || access === null) return;
  try {
    const input = parseArguments(command, words.slice(command.name.split(" ").length));
    await appendAudit(host.database, describeRun(command, input, { access, acting }));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
  }
}
