import {
  type Account,
  type AccountChange,
  createAccount,
  findAccount,
  getPlan,
  updateAccount,
} from "../features/accounts/index.ts";
import { putOperator } from "../features/admin/index.ts";
import { bookCredit, type CreditRequest, listAccountsWithEndedPeriod, renewPlan } from "../features/ledger/index.ts";
import { createUser } from "../features/site/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { IdSource } from "../lib/ids.ts";
import { type Database, inTransaction } from "../platform/database/database.ts";

type AccountDependencies = { database: Database; clock: Clock; ids: IdSource };

type NewAccount = Parameters<typeof createAccount>[1] & {
  credit?: Omit<CreditRequest, "accountId">;
  person: { name?: string | null; passwordHash: string | null; isEmailVerified: boolean; isOperator?: boolean };
};

/** Creates an account with its user, plan quotas and credit in one transaction. */
export async function openAccount(
  { database, clock, ids }: AccountDependencies,
  { credit, person, ...request }: NewAccount,
): Promise<Account> {
  return await inTransaction(database, async (tx) => {
    const within = { database: tx, clock, ids };
    const account = await createAccount(within, request);
    const { name = null, isOperator = false, ...rest } = person;
    const user = await createUser(within, { ...rest, name, accountId: account.id, email: account.email });
    if (isOperator) {
      await putOperator(tx, { userId: user.id, role: "operator", grantedBy: "sluice", grantedAt: clock.now() });
    }
    await renewAccountPlan(within, account);
    if (credit !== undefined) await bookCredit(within, { ...credit, accountId: account.id });
    return account;
  });
}

/** Changes an account and its plan quotas in one transaction. */
export async function changeAccount(
  { database, clock, ids }: AccountDependencies,
  accountId: string,
  change: AccountChange,
): Promise<Account> {
  return await inTransaction(database, async (tx) => {
    const account = await updateAccount({ database: tx, clock }, accountId, change);
    if (change.planId !== undefined) await renewAccountPlan({ database: tx, clock, ids }, account);
    return account;
  });
}

const renewalsAtOnceMax = 10_000;

/** Starts the next period of every ended plan period. A failure does not affect other accounts. */
export async function renewPlans({
  database,
  clock,
  ids,
  onTrouble,
}: AccountDependencies & { onTrouble(accountId: string, error: unknown): void }): Promise<void> {
  const due = { now: clock.now(), limit: renewalsAtOnceMax };
  for (const accountId of await listAccountsWithEndedPeriod(database, due)) {
    try {
      await inTransaction(database, async (tx) => {
        const account = await findAccount(tx, accountId);
        if (account !== null) await renewAccountPlan({ database: tx, clock, ids }, account);
      });
    } catch (error) {
      // Retried at the next run; until then the account has money but no quotas.
      onTrouble(accountId, error);
    }
  }
}

async function renewAccountPlan({ database, clock, ids }: AccountDependencies, { id, planId }: Account): Promise<void> {
  const plan = planId === null ? null : await getPlan(database, planId);
  const terms =
    plan === null ? null : { planId: plan.id, planName: plan.name, period: plan.period, quotas: plan.quotas };
  await renewPlan(database, { accountId: id, terms, now: clock.now(), ids });
}
