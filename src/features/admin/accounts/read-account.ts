import type { AccountId } from "../../../lib/ids.ts";
import { standardLimits } from "../../../lib/limit-set.ts";
import { nano } from "../../../lib/money.ts";
import type { Database } from "../../../platform/database/database.ts";
import { type Account, getPlan } from "../../accounts/index.ts";
import { computeDebt, findFreeze, listDebts, readBalance } from "../../ledger/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import type { AccountFacts } from "./account-admin-schema.ts";
import { findAccountStatus, findClosedAt, listMembers } from "./account-view-store.ts";

/** What the account page shows beside the account itself. */
export async function readAccountFacts(
  { database, clock, currency }: Pick<AdminDependencies, "database" | "clock" | "currency">,
  account: Account,
): Promise<AccountFacts> {
  const { id } = account;
  const plan = account.planId === null ? null : await getPlan(database, account.planId);
  const [balance, status, closedAt, members, stop] = await Promise.all([
    readBalance(database, id, clock.now()),
    findAccountStatus(database, id),
    findClosedAt(database, id),
    listMembers(database, id),
    findStop(database, id),
  ]);
  const limits = { ...standardLimits, ...plan?.limits, ...account.limits };
  return { ...balance, ...stop, status, closedAt, members, plan, limits, currency };
}

async function findStop(database: Database, id: AccountId): Promise<Pick<AccountFacts, "frozenReason" | "owed">> {
  const [freeze, debts] = await Promise.all([findFreeze(database, id), listDebts(database, id)]);
  const owed = nano(debts.reduce((sum, debt) => sum + computeDebt(debt), 0n));
  const [debt] = debts;
  const ofDebt = debt === undefined ? null : `A ${debt.cause.kind} of ${debt.cause.id} is owed.`;
  return { frozenReason: freeze?.reason ?? ofDebt, owed };
}
