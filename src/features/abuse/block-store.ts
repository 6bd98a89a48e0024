import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";
import type { Block, BlockKind } from "./block.ts";

type BlockRow = {
  kind: BlockKind;
  subject: string;
  reason: string;
  created_at: Date;
  created_by: string;
  ends_at: Date | null;
};

/** By subject. Blocks that have ended are left out. */
export async function listBlocks(
  database: Database,
  {
    kind,
    beginning = "",
    after = "",
    now,
    limit,
  }: { kind: BlockKind; beginning?: string; after?: string; now: Date; limit: number },
): Promise<Block[]> {
  const { rows } = await sql<BlockRow>`
    select kind, subject, reason, created_at, created_by, ends_at from blocks
      where kind = ${kind} and subject > ${after} and starts_with(subject, ${beginning}) and (ends_at is null or ends_at > ${now})
      order by subject limit ${limit}`.execute(database);
  return rows.map((row) => ({
    ...{ kind: row.kind, subject: row.subject, reason: row.reason },
    ...{ createdAt: row.created_at, createdBy: row.created_by, endsAt: row.ends_at },
  }));
}

/** The kinds of block in force for a mailbox and its domains. */
export async function findMailBlocks(
  database: Database,
  { mailbox, domains, now }: { mailbox: string; domains: readonly string[]; now: Date },
): Promise<BlockKind[]> {
  const { rows } = await sql<{ kind: BlockKind }>`
    select distinct kind from blocks
      where ((kind = 'mailbox' and subject = ${mailbox}) or (kind in ('domain', 'disposable') and subject = any(${domains})))
        and (ends_at is null or ends_at > ${now})`.execute(database);
  return rows.map(({ kind }) => kind);
}

/** Replaces the reason and the end of a known one. */
export async function putBlocks(
  database: Database,
  subjects: readonly string[],
  { kind, reason, createdAt, createdBy, endsAt }: Omit<Block, "subject">,
): Promise<number> {
  const { numAffectedRows } = await sql`
    insert into blocks (kind, subject, reason, created_at, created_by, ends_at)
      select ${kind}, subject, ${reason}, ${createdAt}::timestamptz, ${createdBy}, ${endsAt}::timestamptz
        from unnest(${[...subjects]}::text[]) as subject
      on conflict (kind, subject) do update set reason = excluded.reason, created_at = excluded.created_at,
        created_by = excluded.created_by, ends_at = excluded.ends_at`.execute(database);
  return Number(numAffectedRows ?? 0n);
}

/** Returns what was removed. */
export async function deleteBlock(database: Database, kind: BlockKind, subject: string): Promise<Block | null> {
  const { rows } = await sql<BlockRow>`
    delete from blocks where kind = ${kind} and subject = ${subject}
      returning kind, subject, reason, created_at, created_by, ends_at`.execute(database);
  const [row] = rows;
  if (row === undefined) return null;
  return {
    ...{ kind: row.kind, subject: row.subject, reason: row.reason },
    ...{ createdAt: row.created_at, createdBy: row.created_by, endsAt: row.ends_at },
  };
}

/** Removes every disposable domain that an import did not write. */
export async function deleteOlderDisposable(tx: Database, before: Date): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from blocks where kind = 'disposable' and created_at < ${before}`.execute(tx);
  return Number(numAffectedRows ?? 0n);
}
