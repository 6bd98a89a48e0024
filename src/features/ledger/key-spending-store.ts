import { sql } from "kysely";
import type { AccountId, KeyId } from "../../lib/ids.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import { nameSpending } from "./ledger-state.ts";

/** The first key of a line, and when the period of its budget began that is asked about. */
export type SpendingPeriod = { keyId: KeyId; startsAt: Date };

/** Tells what lines of keys of an account have spent of their budgets. */
export async function listKeySpending(
  database: Database,
  accountId: AccountId,
  periods: readonly SpendingPeriod[],
): Promise<(period: SpendingPeriod) => Nano> {
  if (periods.length === 0) return () => nano(0n);
  const { rows } = await sql<{ key_id: KeyId; starts_at: Date; spent: bigint }>`
    select key_spending.key_id, key_spending.starts_at, key_spending.spent
      from key_spending join unnest(
        ${periods.map(({ keyId }) => keyId)}::text[],
        ${periods.map(({ startsAt }) => startsAt)}::timestamptz[]
      ) as asked (key_id, starts_at) using (key_id, starts_at)
      where key_spending.account_id = ${accountId}`.execute(database);
  const spent = new Map(
    rows.map((row) => [nameSpending({ keyId: row.key_id, startsAt: row.starts_at }), nano(row.spent)]),
  );
  return (period) => spent.get(nameSpending(period)) ?? nano(0n);
}
