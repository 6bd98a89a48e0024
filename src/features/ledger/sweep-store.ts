import { sql } from "kysely";
import type { AccountId, BucketId, HoldId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { ExpireBucketOperation, ExpireHoldOperation } from "./operation.ts";

type Due = { now: Date; limit: number; skip: number };

export async function listDueHolds(database: Database, { now, limit, skip }: Due): Promise<ExpireHoldOperation[]> {
  const { rows } = await sql<{ id: HoldId; account_id: AccountId }>`
    select id, account_id from holds where state = 'open' and expires_at <= ${now}
      order by expires_at, id limit ${limit} offset ${skip}`.execute(database);
  return rows.map((row) => ({ kind: "expire-hold", accountId: row.account_id, holdId: row.id }));
}

/** Deletes up to `limit` refused holds. Returns whether there may be more. */
export async function deleteRefusals(
  database: Database,
  { before, limit }: { before: Date; limit: number },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from holds where id in (
      select id from holds where state = 'refused' and resolved_at <= ${before} order by resolved_at limit ${limit}
    )`.execute(database);
  return numAffectedRows === BigInt(limit);
}

/** Only buckets with an amount that is not on hold: the rest expires after its hold ends. */
export async function listDueBuckets(database: Database, { now, limit, skip }: Due): Promise<ExpireBucketOperation[]> {
  const { rows } = await sql<{ id: BucketId; account_id: AccountId }>`
    select id, account_id from buckets where is_open and expires_at <= ${now} and posted > held
      order by expires_at, id limit ${limit} offset ${skip}`.execute(database);
  return rows.map((row) => ({
    kind: "expire-bucket",
    accountId: row.account_id,
    bucketId: row.id,
    when: "due",
    cause: { kind: "sweep", id: row.id },
  }));
}

/** When the oldest open hold should have ended; `null` without open holds. */
export async function findOldestHoldEnd(database: Database): Promise<Date | null> {
  const { rows } = await sql<{ end: Date | null }>`
    select min(expires_at) as "end" from holds where state = 'open'`.execute(database);
  return rows[0]?.end ?? null;
}
