import { sql } from "kysely";
import type { AccountId, KeyId } from "../../lib/ids.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";

/** A key, and when the period of its budget began that is asked about. */
export type SpendingPeriod = { keyId: KeyId; startsAt: Date };

/** What keys of an account have spent of their budgets; one that has spent nothing is not among them. */
export async function listKeySpending(
  database: Database,
  accountId: AccountId,
  periods: readonly SpendingPeriod[],
): Promise<Map<KeyId, Nano>> {
  if (periods.length === 0) return new Map();
  const { rows } = await sql<{ key_id: KeyId; spent: bigint }>`
    select key_spending.key_id, key_spending.spent
      from key_spending join unnest(
        ${periods.map(({ keyId }) => keyId)}::text[],
        ${periods.map(({ startsAt }) => startsAt)}::timestamptz[]
      ) as asked (key_id, starts_at) using (key_id, starts_at)
      where key_spending.account_id = ${accountId}`.execute(database);
  return new Map(rows.map((row) => [row.key_id, nano(row.spent)]));
}
