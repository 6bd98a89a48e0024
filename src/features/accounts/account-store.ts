import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Account } from "./account.ts";
import { limitColumnNames, toLimitColumns, toLimits } from "./limit-columns.ts";

/** `false` if the e-mail address is taken. */
export async function insertAccount(
  database: Database,
  account: Omit<Account, "suspendedAt" | "spendCappedUntil">,
): Promise<boolean> {
  const result = await database
    .insertInto("accounts")
    .values({
      id: account.id,
      email: account.email,
      plan_id: account.planId,
      time_zone: account.timeZone,
      ...toLimitColumns(account.limits),
      created_at: account.createdAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export async function updateAccountRow(database: Database, account: Account): Promise<void> {
  await database
    .updateTable("accounts")
    .set({
      plan_id: account.planId,
      suspended_at: account.suspendedAt,
      time_zone: account.timeZone,
      ...toLimitColumns(account.limits),
      // A resumed account is open again.
      ...(account.suspendedAt === null ? { closed_at: null } : {}),
    })
    .where("id", "=", account.id)
    .execute();
}

/** Returns the accounts whose cap changed. `null` lifts it. */
export async function updateSpendCaps(
  database: Database,
  ids: readonly AccountId[],
  until: Date | null,
): Promise<AccountId[]> {
  if (ids.length === 0) return [];
  const rows = await database
    .updateTable("accounts")
    .set({ spend_capped_until: until })
    .where("id", "in", ids)
    .where("spend_capped_until", "is distinct from", until)
    .returning("id")
    .execute();
  return rows.map(({ id }) => id as AccountId);
}

/** The first date counts. */
export async function updateAccountClosed(tx: Database, id: AccountId, closedAt: Date): Promise<void> {
  await tx
    .updateTable("accounts")
    .set({ closed_at: closedAt })
    .where("id", "=", id)
    .where("closed_at", "is", null)
    .execute();
}

export async function listAccounts(database: Database): Promise<Account[]> {
  return (await selectAccounts(database).orderBy("id").execute()).map(toAccount);
}

export async function findAccount(database: Database, id: string): Promise<Account | null> {
  const row = await selectAccounts(database).where("id", "=", id).executeTakeFirst();
  return row === undefined ? null : toAccount(row);
}

/** `FOR UPDATE`, so concurrent updates don't overwrite each other. */
export async function lockAccount(tx: Database, id: string): Promise<Account | null> {
  const row = await selectAccounts(tx).where("id", "=", id).forUpdate().executeTakeFirst();
  return row === undefined ? null : toAccount(row);
}

export async function hasAccounts(database: Database): Promise<boolean> {
  return (await database.selectFrom("accounts").select("id").limit(1).executeTakeFirst()) !== undefined;
}

function selectAccounts(database: Database) {
  return database
    .selectFrom("accounts")
    .select([
      "id",
      "email",
      "plan_id",
      "suspended_at",
      "spend_capped_until",
      "time_zone",
      "created_at",
      ...limitColumnNames,
    ]);
}

type AccountRow = Awaited<ReturnType<ReturnType<typeof selectAccounts>["executeTakeFirstOrThrow"]>>;

function toAccount(row: AccountRow): Account {
  return {
    // The table's check constraint guarantees the prefix.
    id: row.id as AccountId,
    email: row.email,
    planId: row.plan_id,
    suspendedAt: row.suspended_at,
    spendCappedUntil: row.spend_capped_until,
    timeZone: row.time_zone,
    limits: toLimits(row),
    createdAt: row.created_at,
  };
}
