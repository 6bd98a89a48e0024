import type { Clock } from "../../lib/clock.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { type Block, type BlockKind, readDomain, requireSubject } from "./block.ts";
import { deleteBlock, deleteOlderDisposable, putBlocks } from "./block-store.ts";

type Changing = { database: Database; clock: Clock; normalizeMailbox(email: string): string };
type NewBlock = { kind: BlockKind; subject: string; reason: string; endsAt: Date | null; actor: string };

const reasonCharactersMax = 500;

/** In force on every gateway within a second. */
export async function addBlock(
  { database, clock, normalizeMailbox }: Changing,
  { kind, subject, reason, endsAt, actor }: NewBlock,
): Promise<Block> {
  const now = clock.now();
  if (endsAt !== null && endsAt <= now) {
    throw new AppError("invalid_parameter", "The end must be in the future.", { param: "ends_at" });
  }
  const block = {
    ...{ kind, subject: requireSubject(kind, subject, normalizeMailbox), reason: requireReason(reason) },
    ...{ createdAt: now, createdBy: actor, endsAt },
  };
  await putBlocks(database, [block.subject], block);
  return block;
}

export async function removeBlock(
  { database, normalizeMailbox }: Omit<Changing, "clock">,
  kind: BlockKind,
  subject: string,
): Promise<Block> {
  const removed = await deleteBlock(database, kind, requireSubject(kind, subject, normalizeMailbox));
  if (removed !== null) return removed;
  throw new AppError("not_found", `There is no block of the ${kind} ${subject}.`, { param: "subject" });
}

const domainsMax = 500_000;

/** Replaces the list of disposable mail domains by a text with one domain per line. */
export async function importDisposable(
  { database, clock }: Omit<Changing, "normalizeMailbox">,
  text: string,
  actor: string,
): Promise<{ written: number; removed: number }> {
  const lines = text.split("\n").map((line) => line.replace(/#.*$/, "").trim());
  const written = lines.filter((line) => line !== "");
  const domains = new Set<string>();
  for (const [index, line] of written.entries()) {
    const domain = readDomain(line);
    if (domain === null) {
      throw new AppError("invalid_parameter", `Entry ${index + 1} is not a domain: ${line.slice(0, 80)}`, {
        param: "file",
      });
    }
    domains.add(domain);
  }
  if (domains.size === 0 || domains.size > domainsMax) {
    throw new AppError("invalid_parameter", `The list must have 1 to ${domainsMax} domains.`, { param: "file" });
  }
  const now = clock.now();
  return await inTransaction(database, async (tx) => {
    const block = {
      kind: "disposable" as const,
      reason: "Imported list",
      createdAt: now,
      createdBy: actor,
      endsAt: null,
    };
    const count = await putBlocks(tx, [...domains], block);
    return { written: count, removed: await deleteOlderDisposable(tx, now) };
  });
}

function requireReason(reason: string): string {
  const trimmed = reason.trim();
  if (trimmed !== "" && trimmed.length <= reasonCharactersMax && !/\p{Cc}/u.test(trimmed)) return trimmed;
  throw new AppError("invalid_parameter", `A reason has 1 to ${reasonCharactersMax} characters on one line.`, {
    param: "reason",
  });
}
