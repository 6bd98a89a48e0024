import { sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";

export type UsageLine = { model: string; calls: bigint; paid: Nano };

/**
 * An account's paid calls of a period by model, the largest sum first. Reads the ledger's roll-ups and the charges since, in
 * one statement: the roll-up job may run beside it.
 */
export async function sumUsageByModel(
  tx: Database,
  accountId: AccountId,
  { from, to }: { from: Date; to: Date },
): Promise<UsageLine[]> {
  const { rows } = await sql<{ model: string; calls: string; paid: string }>`
    with charged as (
      select price_id, calls, paid from usage_rollups
        where account_id = ${accountId} and unit = 'money' and slot_at >= ${from} and slot_at < ${to}
      union all
      select price_id, 1, paid from wallets join charges using (account_id)
        where account_id = ${accountId} and unit = 'money' and created_at >= rolled_until
          and created_at >= ${from} and created_at < ${to})
    select coalesce(price.model_id, charged.price_id) as model, sum(calls)::text as calls, sum(paid)::text as paid
      from charged left join prices price on price.id = charged.price_id
      group by 1 having sum(paid) > 0 order by sum(paid) desc, 1`.execute(tx);
  return rows.map(({ model, calls, paid }) => ({ model, calls: BigInt(calls), paid: nano(BigInt(paid)) }));
}

/** How far the statements of a month have been issued; `null` before the first account. */
export async function findStatementMonth(
  database: Database,
  month: string,
): Promise<{ doneUntil: string; isDone: boolean } | null> {
  const row = await database.selectFrom("statement_months").selectAll().where("month", "=", month).executeTakeFirst();
  return row === undefined ? null : { doneUntil: row.done_until, isDone: row.is_done };
}

export async function putStatementMonth(
  tx: Database,
  month: string,
  { doneUntil, isDone }: { doneUntil: string; isDone: boolean },
): Promise<void> {
  const progress = { done_until: doneUntil, is_done: isDone };
  await tx
    .insertInto("statement_months")
    .values({ month, ...progress })
    .onConflict((conflict) => conflict.column("month").doUpdateSet(progress))
    .execute();
}

/** Accounts in the order of their ids. */
export async function listAccountIds(
  database: Database,
  { after, limit }: { after: string; limit: number },
): Promise<AccountId[]> {
  const { rows } = await sql<{ id: AccountId }>`
    select id from accounts where id > ${after} order by id limit ${limit}`.execute(database);
  return rows.map(({ id }) => id);
}

export async function hasStatement(tx: Database, accountId: AccountId, month: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from billing_documents where account_id = ${accountId} and month = ${month}`.execute(tx);
  return rows.length > 0;
}
