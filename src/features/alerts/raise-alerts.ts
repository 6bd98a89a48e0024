import type { BudgetPeriod } from "../../lib/budget.ts";
import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import { type Nano, nano, presentMoney } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import { sumMoney } from "../ledger/index.ts";
import { insertNotice } from "../notices/index.ts";
import { listBalanceAlerts, listNearBudgets, updateToEnough, updateToLow } from "./alert-store.ts";

type AlertDependencies = { database: Database; clock: Clock; currency: string };

const accountsAtOnce = 500;
const budgetsPerRunMax = 500;
/** A balance that hovers around the threshold causes at most one mail in this time. */
const mailPauseMs = 60 * 60_000;
const budgetMailsDailyMax = 20;

/** Compares balances and budgets with their owners' thresholds. Runs as a job, so that calls don't pay for it. */
export async function raiseAlerts(dependencies: AlertDependencies, signal: AbortSignal): Promise<void> {
  await raiseBalanceAlerts(dependencies, signal);
  if (!signal.aborted) await raiseBudgetAlerts(dependencies, signal);
}

/** Counts money on hold: holds come and go with every call, and most of each is released. */
async function raiseBalanceAlerts(
  { database, clock, currency }: AlertDependencies,
  signal: AbortSignal,
): Promise<void> {
  let after: AccountId | "" = "";
  for (;;) {
    const alerts = await listBalanceAlerts(database, { after, limit: accountsAtOnce });
    const ids = alerts.map(({ accountId }) => accountId);
    const money = await sumMoney(database, ids, clock.now());
    for (const { accountId, threshold, isLow } of alerts) {
      if (signal.aborted) return;
      const balance = money.get(accountId)?.total ?? nano(0n);
      if (balance < threshold && !isLow)
        await reportLow({ database, clock, currency }, { accountId, threshold, balance });
      if (balance >= threshold && isLow) await updateToEnough(database, accountId);
    }
    const last = ids.at(-1);
    if (last === undefined || ids.length < accountsAtOnce) return;
    after = last;
  }
}

async function reportLow(
  { database, clock, currency }: AlertDependencies,
  { accountId, threshold, balance }: { accountId: AccountId; threshold: Nano; balance: Nano },
): Promise<void> {
  const now = clock.now();
  await database.transaction().execute(async (tx) => {
    const count = await updateToLow(tx, accountId, { now, mailedBefore: new Date(now.getTime() - mailPauseMs) });
    if (count === null) return;
    const write = (amount: Nano): string => `${presentMoney(amount)} ${currency}`;
    const facts = { balance: write(balance), threshold: write(threshold) };
    await insertNotice(tx, { id: `low_balance:${accountId}:${count}`, accountId, kind: "low_balance", facts }, now);
  });
}

const periodWords: Record<BudgetPeriod, string> = {
  total: "in total",
  day: "a day",
  week: "a week",
  month: "a month",
};

async function raiseBudgetAlerts({ database, clock, currency }: AlertDependencies, signal: AbortSignal): Promise<void> {
  const limits = { dailyMax: budgetMailsDailyMax, limit: budgetsPerRunMax };
  for (const near of await listNearBudgets(database, { now: clock.now(), ...limits })) {
    if (signal.aborted) return;
    const facts = {
      key: near.keyName,
      spent: `${presentMoney(near.spent)} ${currency}`,
      budget: `${presentMoney(near.budget)} ${currency} ${periodWords[near.period]}`,
    };
    const { noticeId: id, accountId } = near;
    await insertNotice(database, { id, accountId, kind: "key_budget", facts }, clock.now());
  }
}
