import { type AuditEntry, type AuditHead, listAudit, listAuditForward, verifyAudit } from "../features/audit/index.ts";
import type { Command } from "./command.ts";
import { createWrongValue, readNumber, readTime } from "./option-values.ts";
import { presentRows } from "./present-rows.ts";
import { UsageError } from "./usage-error.ts";
import { withDatabase } from "./with-database.ts";

const entriesMax = 10_000;
const defaultLimit = "100";

const listCommand: Command = {
  name: "audit list",
  summary: "List what operators and account owners did, newest first.",
  options: {
    account: { placeholder: "account id", description: "Only entries about this account." },
    actor: { placeholder: "name", description: "Only entries of this person or key: an id or a name." },
    action: { placeholder: "word", description: "Only this action, such as account.suspended, or its noun for all." },
    subject: { placeholder: "id", description: "Only entries about this object." },
    from: { placeholder: "time", description: "Only entries from this time on." },
    to: { placeholder: "time", description: "Only entries before this time." },
    limit: { placeholder: "number", description: `The maximum number. Default: ${defaultLimit}.` },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const limit = readNumber("limit", options.limit ?? defaultLimit);
      if (limit < 1 || limit > entriesMax) throw createWrongValue("limit", `a number from 1 to ${entriesMax}`);
      const filter = {
        ...{ accountId: options.account ?? null, actor: options.actor ?? null, action: options.action ?? null },
        subject: options.subject ?? null,
        from: options.from === undefined ? null : readTime(options.from, "from"),
        to: options.to === undefined ? null : readTime(options.to, "to"),
      };
      const entries = await listAudit(database, filter, { before: null, limit });
      const rows = entries.map((entry) => [
        `aud_${entry.number}`,
        entry.createdAt.toISOString(),
        entry.actor.name,
        entry.action,
        entry.subject ?? "-",
        entry.accountId ?? "-",
        entry.reason ?? "-",
      ]);
      return {
        json: entries.map(presentEntryJson),
        text:
          entries.length === 0
            ? "No entries."
            : presentRows(["ID", "TIME", "ACTOR", "ACTION", "SUBJECT", "ACCOUNT", "REASON"], rows),
      };
    }),
};

const exportedAtOnce = 1_000;

const exportCommand: Command = {
  name: "audit export",
  summary: "Print the audit log as JSON lines, oldest first, with the hashes that prove it.",
  options: { after: { placeholder: "id", description: "Only entries after this one, such as aud_42." } },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      let after = options.after === undefined ? 0n : readId(options.after);
      for (;;) {
        const entries = await listAuditForward(database, after, exportedAtOnce);
        for (const entry of entries) terminal.print(JSON.stringify(presentEntryJson(entry)));
        const last = entries.at(-1);
        if (last === undefined || entries.length < exportedAtOnce) return null;
        after = last.number;
      }
    }),
};

const verifyCommand: Command = {
  name: "audit verify",
  summary: "Recompute the audit log's chain of hashes. Exits with 1 if an entry was changed, removed or inserted.",
  options: {
    head: {
      placeholder: "id:hash",
      description: "The newest entry of an earlier verification: shows whether entries were cut off since.",
    },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const expected = options.head === undefined ? null : readHead(options.head);
      const { entries, fault, head } = await verifyAudit(database, expected);
      const newest = head === null ? null : `aud_${head.number}:${head.hash}`;
      const json = {
        ok: fault === null,
        entries,
        fault: fault === null ? null : { kind: fault.kind, id: `aud_${fault.number}` },
        head: newest,
      };
      if (fault !== null) {
        const text =
          fault.kind === "changed"
            ? `✗ The chain breaks at aud_${fault.number}: it, or an entry before it, was changed, removed or inserted.`
            : `✗ aud_${fault.number} is missing or has another hash: the newest entries were cut off.`;
        return { json, text, hasFailed: true };
      }
      const note = newest === null ? "" : `\nNote this head elsewhere, and pass it as --head next time:\n${newest}`;
      return { json, text: `All ${entries} entries are unchanged.${note}` };
    }),
};

export const auditCommands: readonly Command[] = [listCommand, exportCommand, verifyCommand];

function readId(text: string): bigint {
  const number = /^aud_(\d{1,18})$/.exec(text)?.[1];
  if (number === undefined) throw new UsageError(`${text} is not an entry's id.`, "Ids look like aud_42.");
  return BigInt(number);
}

function readHead(text: string): AuditHead {
  const [id = "", hash = ""] = text.split(":");
  if (!/^[0-9a-f]{64}$/.test(hash)) {
    throw new UsageError(
      "--head must be an id and a hash.",
      "Use the head that audit verify printed, such as aud_42:3f….",
    );
  }
  return { number: readId(id), hash };
}

function presentEntryJson(entry: AuditEntry): Record<string, unknown> {
  return {
    id: `aud_${entry.number}`,
    created_at: entry.createdAt.toISOString(),
    actor: entry.actor,
    address: entry.address,
    action: entry.action,
    subject: entry.subject,
    account: entry.accountId,
    reason: entry.reason,
    before: entry.before,
    after: entry.after,
    request_id: entry.requestId,
    hash: entry.hash,
  };
}
