import { sql } from "kysely";
import { type BudgetPeriod, budgetPeriods, findPeriodStart } from "../../lib/budget.ts";
import type { AccountId } from "../../lib/ids.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";

/** When to mail the owner; `null` switches a mail off. */
export type Alerts = { lowBalance: Nano | null; budgetPercent: number | null };

export async function findAlerts(database: Database, accountId: AccountId): Promise<Alerts> {
  const row = await database
    .selectFrom("account_alerts")
    .select(["low_balance_nano", "budget_percent"])
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  const lowBalance = row?.low_balance_nano ?? null;
  return {
    lowBalance: lowBalance === null ? null : nano(lowBalance),
    budgetPercent: row?.budget_percent ?? null,
  };
}

/** A new threshold is a new crossing. */
export async function putAlerts(
  database: Database,
  accountId: AccountId,
  { changes, now }: { changes: Partial<Alerts>; now: Date },
): Promise<void> {
  const columns = {
    ...(changes.lowBalance === undefined ? {} : { low_balance_nano: changes.lowBalance, is_low: false }),
    ...(changes.budgetPercent === undefined ? {} : { budget_percent: changes.budgetPercent }),
    changed_at: now,
  };
  await database
    .insertInto("account_alerts")
    .values({ account_id: accountId, ...columns })
    .onConflict((conflict) => conflict.column("account_id").doUpdateSet(columns))
    .execute();
}

type Page = { after: AccountId | ""; limit: number };

export async function listBalanceAlerts(
  database: Database,
  { after, limit }: Page,
): Promise<{ accountId: AccountId; threshold: Nano; isLow: boolean }[]> {
  const { rows } = await sql<{ account_id: AccountId; low_balance_nano: bigint; is_low: boolean }>`
    select account_id, low_balance_nano, is_low from account_alerts
      where low_balance_nano is not null and account_id > ${after}
      order by account_id limit ${limit}`.execute(database);
  return rows.map((row) => ({
    accountId: row.account_id,
    threshold: nano(row.low_balance_nano),
    isLow: row.is_low,
  }));
}

/** Returns the number of this crossing, or `null` if it was already reported or the last mail is too recent. */
export async function updateToLow(
  tx: Database,
  accountId: AccountId,
  { now, mailedBefore }: { now: Date; mailedBefore: Date },
): Promise<bigint | null> {
  const row = await tx
    .updateTable("account_alerts")
    .set((eb) => ({ is_low: true, low_mailed_at: now, low_count: eb("low_count", "+", 1n) }))
    .where("account_id", "=", accountId)
    .where("is_low", "=", false)
    .where(({ eb, or }) => or([eb("low_mailed_at", "is", null), eb("low_mailed_at", "<=", mailedBefore)]))
    .returning("low_count")
    .executeTakeFirst();
  return row?.low_count ?? null;
}

export async function updateToEnough(database: Database, accountId: AccountId): Promise<void> {
  await database.updateTable("account_alerts").set({ is_low: false }).where("account_id", "=", accountId).execute();
}

export type NearBudget = {
  /** One per key lineage, budget and period. */
  noticeId: string;
  accountId: AccountId;
  keyName: string;
  spent: Nano;
  budget: Nano;
  period: BudgetPeriod;
};

/** Keys that have spent the owner's percentage of their budget and were not reported yet, few per account and day. */
export async function listNearBudgets(
  database: Database,
  { now, dailyMax, limit }: { now: Date; dailyMax: number; limit: number },
): Promise<NearBudget[]> {
  const starts = budgetPeriods.map((period) => findPeriodStart(period, now));
  const dayAgo = new Date(now.getTime() - dayMs);
  const { rows } = await sql<{
    notice_id: string;
    account_id: AccountId;
    name: string;
    spent: bigint;
    budget_nano: bigint;
    budget_period: BudgetPeriod;
  }>`
    with near as (
      select distinct on (key.lineage_id) 'key_budget:' || key.lineage_id || ':' || key.budget_nano || ':' ||
          extract(epoch from spending.starts_at)::bigint as notice_id,
          key.account_id, key.name, spending.spent, key.budget_nano, key.budget_period
        from account_alerts alert
          join api_keys key on key.account_id = alert.account_id and key.revoked_at is null and key.budget_nano > 0
          join unnest(${[...budgetPeriods]}::text[], ${starts}::timestamptz[]) as periods (period, starts_at)
            on periods.period = key.budget_period
          join key_spending spending on spending.key_id = key.lineage_id and spending.starts_at = periods.starts_at
        where alert.budget_percent is not null
          and spending.spent * 100.0 >= key.budget_nano::numeric * alert.budget_percent
        order by key.lineage_id, key.created_at desc
    )
    select notice_id, account_id, name, spent, budget_nano, budget_period from near
      where not exists (select from account_notices where id = notice_id)
        and (select count(*) from account_notices where account_notices.account_id = near.account_id
          and kind = 'key_budget' and created_at > ${dayAgo}) < ${dailyMax}
      order by notice_id limit ${limit}`.execute(database);
  return rows.map((row) => ({
    noticeId: row.notice_id,
    accountId: row.account_id,
    keyName: row.name,
    spent: nano(row.spent),
    budget: nano(row.budget_nano),
    period: row.budget_period,
  }));
}

const dayMs = 24 * 60 * 60_000;
