import { sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Database } from "../../platform/database/database.ts";

/** Where the next check of changed accounts starts. Times are by the database's clock, which stamps the changes. */
export type CheckProgress = { checkedAt: Date; checkedNumber: bigint; previousNumber: bigint };

export async function readCheckProgress(database: Database): Promise<CheckProgress> {
  const row = await database.selectFrom("ledger_checks").selectAll().executeTakeFirst();
  invariant(row !== undefined, "the table ledger_checks has no row");
  return { checkedAt: row.checked_at, checkedNumber: row.checked_number, previousNumber: row.previous_number };
}

export async function updateCheckProgress(database: Database, progress: CheckProgress): Promise<void> {
  await database
    .updateTable("ledger_checks")
    .set({
      checked_at: progress.checkedAt,
      checked_number: progress.checkedNumber,
      previous_number: progress.previousNumber,
    })
    .execute();
}

export async function listChangedAccounts(database: Database, since: Date): Promise<AccountId[]> {
  const rows = await database.selectFrom("wallets").select("account_id").where("changed_at", ">=", since).execute();
  return rows.map((row) => row.account_id as AccountId);
}

/** The database's time, and the last posting number, read from its sequence. */
export async function readLedgerEnd(database: Database): Promise<{ at: Date; number: bigint }> {
  const { rows } = await sql<{ at: Date; number: bigint }>`
    select clock_timestamp() as at,
      coalesce(pg_sequence_last_value(pg_get_serial_sequence('postings', 'number')::regclass), 0) as number`.execute(
    database,
  );
  invariant(rows[0] !== undefined, "the database returned no time");
  return rows[0];
}

/** Progress of a full check: accounts in id order, then holds in id order. */
export type WholeProgress = {
  accountId: string;
  /** Accounts up to this id have been unsealed. */
  unsealedId: string;
  /** `null` before the first hold. */
  holdId: string | null;
};

/** `null` if no full check is running. */
export async function readWholeProgress(database: Database): Promise<WholeProgress | null> {
  const row = await database.selectFrom("ledger_checks").selectAll().executeTakeFirstOrThrow();
  if (row.whole_account_id === null || row.whole_unsealed_id === null) return null;
  return { accountId: row.whole_account_id, unsealedId: row.whole_unsealed_id, holdId: row.whole_hold_id };
}

export async function updateWholeProgress(database: Database, progress: WholeProgress | null): Promise<void> {
  await database
    .updateTable("ledger_checks")
    .set({
      whole_account_id: progress?.accountId ?? null,
      whole_unsealed_id: progress?.unsealedId ?? null,
      whole_hold_id: progress?.holdId ?? null,
    })
    .execute();
}
