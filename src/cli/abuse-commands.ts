import { readFile } from "node:fs/promises";
import {
  addBlock,
  type Block,
  type BlockKind,
  blockKinds,
  importDisposable,
  liftCap,
  listBlocks,
  removeBlock,
  sumSignUps,
} from "../features/abuse/index.ts";
import { normalizeMailbox } from "../features/site/index.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import type { Command } from "./command.ts";
import { getActor } from "./get-acting.ts";
import { createWrongValue, readEnd } from "./option-values.ts";
import { presentRows } from "./present-rows.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const shownMax = 1000;
const dayMs = 24 * 60 * 60_000;

const blockCommand: Command = {
  name: "abuse block",
  summary:
    "Block a network, a mail domain or a mailbox. Networks can neither call nor sign in; the others cannot sign up.",
  positionals: [`kind: ${blockKinds.join(", ")}`, "network, domain or mailbox"],
  options: {
    reason: { placeholder: "text", description: "Why, for other operators.", isRequired: true },
    until: { placeholder: "time", description: "30m, 2h, 7d, or a time. Default: until you remove it." },
  },
  run: ({ positionals: [kind = "", subject = ""], options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const endsAt = options.until === undefined ? null : readEnd("until", options.until);
      const request = { kind: readKind(kind), subject, reason: options.reason ?? "", endsAt, actor: getActor() };
      const block = await addBlock({ ...systemDependencies, database, normalizeMailbox }, request);
      return { json: presentBlockJson(block), text: `Blocked ${block.subject}. Gateways follow within a second.` };
    }),
};

const unblockCommand: Command = {
  name: "abuse unblock",
  summary: "Remove a block.",
  positionals: [`kind: ${blockKinds.join(", ")}`, "network, domain or mailbox"],
  run: ({ positionals: [kind = "", subject = ""], terminal }) =>
    withDatabase(terminal, async (database) => {
      const block = await removeBlock({ database, normalizeMailbox }, readKind(kind), subject);
      return { json: presentBlockJson(block), text: `Removed the block of ${block.subject}.` };
    }),
};

const blocksCommand: Command = {
  name: "abuse blocks",
  summary: `List blocks of a kind, at most ${shownMax}.`,
  positionals: [`kind: ${blockKinds.join(", ")}`],
  options: { beginning: { placeholder: "text", description: "Only subjects that begin with it." } },
  run: ({ positionals: [kind = ""], options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const blocks = await listBlocks(database, {
        ...{ kind: readKind(kind), beginning: options.beginning ?? "" },
        ...{ now: systemDependencies.clock.now(), limit: shownMax },
      });
      const rows = blocks.map(({ subject, reason, createdBy, endsAt }) => [
        ...[subject, endsAt?.toISOString() ?? "-", createdBy, reason],
      ]);
      return {
        json: blocks.map(presentBlockJson),
        text: rows.length === 0 ? "No blocks." : presentRows(["SUBJECT", "UNTIL", "BY", "REASON"], rows),
      };
    }),
};

const importCommand: Command = {
  name: "abuse import-disposable",
  summary: "Replace the list of disposable mail domains by a file with one domain per line.",
  positionals: ["file"],
  run: ({ positionals: [path = ""], terminal }) =>
    withDatabase(terminal, async (database) => {
      const text = await readFile(path, "utf8").catch((error: unknown) => {
        throw new OperatorError(`Cannot read ${path}.`, "Give the path of a text file.", { cause: error });
      });
      const { written, removed } = await importDisposable({ ...systemDependencies, database }, text, getActor());
      return { json: { written, removed }, text: `${written} domains are listed, ${removed} were removed.` };
    }),
};

const signUpsCommand: Command = {
  name: "abuse sign-ups",
  summary: "Count sign-ups by network or by mail domain, most first.",
  options: {
    by: { placeholder: "word", description: "network or domain. Default: network." },
    days: { placeholder: "number", description: "Of the last days. Default: 1." },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const by = (["network", "domain"] as const).find((word) => word === (options.by ?? "network"));
      if (by === undefined) throw createWrongValue("by", "network or domain");
      const days = options.days ?? "1";
      if (!/^[1-9]\d{0,3}$/.test(days)) throw createWrongValue("days", "a whole number from 1 to 9999");
      const since = new Date(systemDependencies.clock.now().getTime() - Number(days) * dayMs);
      const sums = await sumSignUps(database, by, { since, limit: shownMax });
      const rows = sums.map(({ subject, opened, refused, lastAt }) => [
        ...[subject, String(opened), String(refused), lastAt.toISOString()],
      ]);
      return {
        json: sums.map(({ subject, opened, refused, lastAt }) => ({
          ...{ [by]: subject, opened, refused, last_at: lastAt.toISOString() },
        })),
        text: rows.length === 0 ? "No sign-ups." : presentRows([by.toUpperCase(), "OPENED", "REFUSED", "LAST"], rows),
      };
    }),
};

const liftCommand: Command = {
  name: "abuse lift-cap",
  summary: "Lift the daily spend cap of a new account for good.",
  positionals: ["account id"],
  run: ({ positionals: [accountId = ""], terminal }) =>
    withDatabase(terminal, async (database) => {
      await liftCap({ ...systemDependencies, database }, accountId);
      return { json: { account: accountId, capped: false }, text: `${accountId} has no daily spend cap any more.` };
    }),
};

export const abuseCommands: readonly Command[] = [
  blockCommand,
  unblockCommand,
  blocksCommand,
  importCommand,
  signUpsCommand,
  liftCommand,
];

function readKind(word: string): BlockKind {
  const kind = blockKinds.find((known) => known === word);
  if (kind === undefined)
    throw new OperatorError(`${word} is no kind of block.`, `Use one of ${blockKinds.join(", ")}.`);
  return kind;
}

function presentBlockJson({ kind, subject, reason, createdAt, createdBy, endsAt }: Block): Record<string, unknown> {
  return {
    ...{ kind, subject, reason, created_by: createdBy },
    created_at: createdAt.toISOString(),
    ends_at: endsAt?.toISOString() ?? null,
  };
}
