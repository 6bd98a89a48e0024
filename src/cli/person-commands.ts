import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { closeAsOperator, erasePerson, exportPerson } from "../features/admin/index.ts";
import type { AccountId } from "../lib/ids.ts";
import type { Command } from "./command.ts";
import { getActing } from "./get-acting.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const reason = { placeholder: "text", description: "The reason, for the audit log.", isRequired: true } as const;

const closeCommand: Command = {
  name: "account close",
  summary: "Suspend an account, revoke its keys and end its sessions. The books and the balance stay.",
  positionals: ["account id"],
  options: { reason },
  run: ({ positionals: [id = ""], options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const action = { accountId: id as AccountId, acting: getActing(), reason: options.reason ?? "" };
      const account = await closeAsOperator({ ...systemDependencies, database }, action);
      return { json: { account_id: account.id, status: "closed" }, text: `Closed ${account.id}.` };
    }),
};

const exportCommand: Command = {
  name: "account export",
  summary: "Write everything stored about an account and its person to an archive.",
  positionals: ["account id"],
  options: {
    output: {
      placeholder: "file",
      description: "The archive, a compressed tar file. It must not exist.",
      isRequired: true,
    },
    reason,
  },
  run: ({ positionals: [id = ""], options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const action = { accountId: id as AccountId, acting: getActing(), reason: options.reason ?? "" };
      const path = options.output ?? "";
      const archive = await exportPerson({ ...systemDependencies, database }, action);
      await pipeline(archive, createWriteStream(path, { flags: "wx", mode: 0o600 }));
      return {
        json: { account_id: id, output: path },
        text: `Wrote ${path}. Check its folder for-review before you hand it over: operators wrote it.`,
      };
    }),
};

const eraseCommand: Command = {
  name: "account erase",
  summary: "Erase the person and the content of a closed account. The books and invoices stay.",
  positionals: ["account id"],
  options: { reason },
  run: ({ positionals: [id = ""], options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const action = { accountId: id as AccountId, acting: getActing(), reason: options.reason ?? "" };
      const { auditEntries } = await erasePerson({ ...systemDependencies, database }, action);
      return {
        json: { account_id: id, audit_entries: auditEntries },
        text: `Erased the person of ${id}. Running gateways delete the files within a minute.`,
      };
    }),
};

export const personCommands: readonly Command[] = [closeCommand, exportCommand, eraseCommand];
