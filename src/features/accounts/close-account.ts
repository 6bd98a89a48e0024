import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { Account } from "./account.ts";
import { lockAccount, updateAccountClosed, updateAccountRow } from "./account-store.ts";
import { revokeKeysOf } from "./api-key-store.ts";

/** Suspends an account for good and revokes its keys. Resuming it opens it again, without the keys. */
export async function closeAccount(
  database: Database,
  accountId: string,
  now: Date,
): Promise<{ account: Account; revokedKeys: number }> {
  return await inTransaction(database, async (tx) => {
    const account = await lockAccount(tx, accountId);
    if (account === null) throw new AppError("not_found", `There is no account ${accountId}.`, { param: "account" });
    const closed = { ...account, suspendedAt: account.suspendedAt ?? now };
    await updateAccountRow(tx, closed);
    await updateAccountClosed(tx, account.id, now);
    return { account: closed, revokedKeys: await revokeKeysOf(tx, account.id, now) };
  });
}
