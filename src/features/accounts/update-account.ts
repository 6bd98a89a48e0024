import type { Clock } from "../../lib/clock.ts";
import type { LimitSet } from "../../lib/limit-set.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { Account } from "./account.ts";
import { lockAccount, updateAccountRow } from "./account-store.ts";
import { getPlan } from "./change-plan.ts";
import { requireLimits, requireTimeZone } from "./require-valid.ts";

export type AccountChange = {
  planId?: string | null;
  limits?: Partial<LimitSet>;
  isSuspended?: boolean;
  timeZone?: string;
};

/** Every node applies the change within a second. */
export async function updateAccount(
  { database, clock }: { database: Database; clock: Clock },
  accountId: string,
  change: AccountChange,
): Promise<Account> {
  if (change.limits !== undefined) requireLimits(change.limits);
  if (change.timeZone !== undefined) requireTimeZone(change.timeZone);
  return await inTransaction(database, async (tx) => {
    const account = await lockAccount(tx, accountId);
    if (account === null) throw new AppError("not_found", `There is no account ${accountId}.`, { param: "account" });
    if (change.planId) await getPlan(tx, change.planId);
    const changed = {
      ...account,
      planId: change.planId === undefined ? account.planId : change.planId,
      limits: change.limits ?? account.limits,
      timeZone: change.timeZone ?? account.timeZone,
      suspendedAt: decideSuspension(account, change, clock.now()),
    };
    await updateAccountRow(tx, changed);
    return changed;
  });
}

/** Suspending a suspended account keeps the first date. */
function decideSuspension(account: Account, { isSuspended }: AccountChange, now: Date): Date | null {
  if (isSuspended === undefined) return account.suspendedAt;
  return isSuspended ? (account.suspendedAt ?? now) : null;
}
