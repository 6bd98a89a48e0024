import { sql } from "kysely";
import type { AccountId, BucketId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { PlanPeriod } from "./plan-period.ts";

/** The newest period, ended or not; `null` for an account without a plan. */
export async function findLatestPlanPeriod(database: Database, accountId: AccountId): Promise<PlanPeriod | null> {
  const row = await database
    .selectFrom("plan_periods")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("is_latest", "=", true)
    .executeTakeFirst();
  if (row === undefined) return null;
  return {
    // The table's check constraint guarantees the prefix.
    id: row.id as PlanPeriod["id"],
    accountId,
    planId: row.plan_id,
    planName: row.plan_name,
    anchoredAt: row.anchored_at,
    startsAt: row.starts_at,
    endsAt: row.ends_at,
  };
}

export async function insertPlanPeriod(tx: Database, period: PlanPeriod): Promise<void> {
  await tx
    .insertInto("plan_periods")
    .values({
      id: period.id,
      account_id: period.accountId,
      plan_id: period.planId,
      plan_name: period.planName,
      anchored_at: period.anchoredAt,
      starts_at: period.startsAt,
      ends_at: period.endsAt,
      is_latest: true,
    })
    .execute();
}

/** Ends the period now, or keeps its earlier end. */
export async function closePlanPeriod(tx: Database, { id }: PlanPeriod, now: Date): Promise<void> {
  await sql`update plan_periods set is_latest = false, ends_at = least(ends_at, ${now}) where id = ${id}`.execute(tx);
}

/** Accounts whose newest period has ended, and that need a renewal or the end of their plan. */
export async function listAccountsWithEndedPeriod(
  database: Database,
  { now, limit }: { now: Date; limit: number },
): Promise<AccountId[]> {
  const rows = await database
    .selectFrom("plan_periods")
    .select("account_id")
    .where("is_latest", "=", true)
    .where("ends_at", "<=", now)
    .orderBy("ends_at")
    .limit(limit)
    .execute();
  return rows.map((row) => row.account_id as AccountId);
}

/** The open buckets of a period's grants. */
export async function listOpenBucketsOf(
  tx: Database,
  period: Pick<PlanPeriod, "id" | "accountId">,
): Promise<BucketId[]> {
  const { rows } = await sql<{ id: BucketId }>`
    select buckets.id from buckets join postings on postings.bucket_id = buckets.id and postings.entry_number = 1
      where buckets.account_id = ${period.accountId} and buckets.is_open and postings.cause_id = ${period.id}
      order by buckets.id`.execute(tx);
  return rows.map((row) => row.id);
}
