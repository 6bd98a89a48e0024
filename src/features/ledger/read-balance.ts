import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { type Balance, computeBalance } from "./balance.ts";
import { isExpired } from "./draft.ts";
import { loadState, runWithin } from "./ledger-store.ts";
import type { PlanPeriod } from "./plan-period.ts";
import { findLatestPlanPeriod } from "./plan-period-store.ts";

/** Whether the account has anything to spend, on hold or not: money, or the tokens, images and seconds of a quota. */
export async function hasFunds(database: Database, accountId: AccountId, now: Date): Promise<boolean> {
  const nothing = { bucketIds: [], holdIds: [], transactionIds: [], spending: [] };
  const { buckets } = await loadState(runWithin(database), { ...nothing, accountIds: [accountId] });
  return [...buckets.values()].some((bucket) => (isExpired(bucket, now) ? bucket.held : bucket.posted) > 0n);
}

/** Whether money was ever paid in: cash, not a gift such as the welcome credit. */
export async function hasPaid(database: Database, accountId: AccountId): Promise<boolean> {
  const nothing = { bucketIds: [], holdIds: [], transactionIds: [], spending: [] };
  const { buckets } = await loadState(runWithin(database), { ...nothing, accountIds: [accountId] });
  return [...buckets.values()].some(({ kind }) => kind === "cash");
}

/** What an account has at a moment, from the ledger and from nowhere else. */
export async function readBalance(
  database: Database,
  accountId: AccountId,
  now: Date,
): Promise<{ balance: Balance; period: PlanPeriod | null }> {
  const nothing = { bucketIds: [], holdIds: [], transactionIds: [], spending: [] };
  const { buckets } = await loadState(runWithin(database), { ...nothing, accountIds: [accountId] });
  const latest = await findLatestPlanPeriod(database, accountId);
  const period = latest !== null && latest.endsAt > now ? latest : null;
  return { balance: computeBalance([...buckets.values()], now), period };
}
