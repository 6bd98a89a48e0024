import { sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Tables } from "../../platform/database/tables.ts";
import type { Cause } from "./ledger-state.ts";

/** Credit that a payment channel has reversed, and how much of it was taken or waived. */
export type Clawback = {
  /** The channel's id of the refund or dispute. */
  id: string;
  accountId: AccountId;
  channel: string;
  cause: Cause;
  owed: Nano;
  taken: Nano;
  /** Debt that an operator waived. */
  waived: Nano;
  stepCount: number;
  createdAt: Date;
};

export async function findClawback(tx: Database, id: string): Promise<Clawback | null> {
  const row = await tx.selectFrom("clawbacks").selectAll().where("id", "=", id).executeTakeFirst();
  return row === undefined ? null : toClawback(row);
}

/** A payment's clawbacks, oldest first. */
export async function listClawbacks(database: Database, causeId: string): Promise<Clawback[]> {
  const query = database.selectFrom("clawbacks").selectAll().where("cause_id", "=", causeId);
  return (await query.orderBy("created_at").orderBy("id").execute()).map(toClawback);
}

/** The account's open debts, oldest first. */
export async function listDebts(database: Database, accountId: string): Promise<Clawback[]> {
  const query = database.selectFrom("clawbacks").selectAll().where("account_id", "=", accountId).where(isUnpaid);
  return (await query.orderBy("created_at").orderBy("id").execute()).map(toClawback);
}

/** Accounts with debt and cash that is not on hold, such as after a call has ended. */
export async function listPayableDebtors(database: Database, limit: number): Promise<AccountId[]> {
  const { rows } = await sql<{ account_id: AccountId }>`
    select distinct account_id from clawbacks where ${isUnpaid} and exists (
      select from buckets where buckets.account_id = clawbacks.account_id and kind = 'cash' and posted > held)
      limit ${limit}`.execute(database);
  return rows.map((row) => row.account_id);
}

const isUnpaid = sql<boolean>`owed_nano > taken_nano + waived_nano`;

/** Cash that is not on hold. */
export async function findFreeCash(tx: Database, accountId: AccountId): Promise<bigint> {
  const { rows } = await sql<{ free: bigint }>`
    select posted - held as free from buckets where account_id = ${accountId} and kind = 'cash'`.execute(tx);
  return rows[0]?.free ?? 0n;
}

/** Bumps the wallet's version, so processes that cache it reload whether it is frozen. */
export async function putClawback(tx: Database, clawback: Clawback, now: Date): Promise<void> {
  const amounts = {
    owed_nano: clawback.owed,
    taken_nano: clawback.taken,
    waived_nano: clawback.waived,
    step_count: clawback.stepCount,
    changed_at: now,
  };
  await tx
    .insertInto("clawbacks")
    .values({
      id: clawback.id,
      account_id: clawback.accountId,
      channel: clawback.channel,
      cause_kind: clawback.cause.kind,
      cause_id: clawback.cause.id,
      created_at: clawback.createdAt,
      ...amounts,
    })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(amounts))
    .execute();
  await sql`update wallets set version = version + 1, changed_at = clock_timestamp()
    where account_id = ${clawback.accountId}`.execute(tx);
}

function toClawback(row: Tables["clawbacks"]): Clawback {
  return {
    id: row.id,
    accountId: row.account_id as AccountId,
    channel: row.channel,
    // Only clawBack writes causes.
    cause: { kind: row.cause_kind as Cause["kind"], id: row.cause_id },
    owed: nano(row.owed_nano),
    taken: nano(row.taken_nano),
    waived: nano(row.waived_nano),
    stepCount: row.step_count,
    createdAt: row.created_at,
  };
}
