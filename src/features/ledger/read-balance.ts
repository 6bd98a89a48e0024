import type { AccountId } from "../../lib/ids.ts";
import { type Nano, nano } from "../../lib/money.ts";
import { type QuotaKind, type Quotas, quotaKinds } from "../../lib/plan-terms.ts";
import type { Database } from "../../platform/database/database.ts";
import { compareBuckets, isExpired } from "./draft.ts";
import type { Bucket } from "./ledger-state.ts";
import { loadState, runWithin } from "./ledger-store.ts";
import type { PlanPeriod } from "./plan-period.ts";
import { findLatestPlanPeriod } from "./plan-period-store.ts";

export type Balance = {
  available: Nano;
  /** On hold for unfinished work. */
  frozen: Nano;
  cash: Nano;
  gift: Nano;
  /** Without the units on hold. */
  quotas: Quotas;
};

export async function readBalance(
  database: Database,
  accountId: AccountId,
  now: Date,
): Promise<{ balance: Balance; period: PlanPeriod | null }> {
  const buckets = await loadBuckets(database, accountId);
  const latest = await findLatestPlanPeriod(database, accountId);
  const period = latest !== null && latest.endsAt > now ? latest : null;
  return { balance: computeBalance(buckets, now), period };
}

/** The account's credit buckets, in the order in which they are spent. */
export async function listBuckets(database: Database, accountId: AccountId, now: Date): Promise<Bucket[]> {
  return (await loadBuckets(database, accountId))
    .map((bucket) => ({ ...bucket, posted: countPosted(bucket, now) }))
    .filter(({ posted }) => posted > 0n)
    .toSorted(compareBuckets);
}

/** Whether the account has money or quota units, on hold or not. */
export async function hasFunds(database: Database, accountId: AccountId, now: Date): Promise<boolean> {
  return (await loadBuckets(database, accountId)).some((bucket) => countPosted(bucket, now) > 0n);
}

/** Whether the account ever paid in cash; gifts such as the welcome credit don't count. */
export async function hasPaid(database: Database, accountId: AccountId): Promise<boolean> {
  return (await loadBuckets(database, accountId)).some(({ kind }) => kind === "cash");
}

async function loadBuckets(database: Database, accountId: AccountId): Promise<Bucket[]> {
  const nothing = { bucketIds: [], holdIds: [], transactionIds: [], spending: [] };
  const { buckets } = await loadState(runWithin(database), { ...nothing, accountIds: [accountId] });
  return [...buckets.values()];
}

/** An expired bucket counts only as far as unfinished work holds it. */
function countPosted(bucket: Bucket, now: Date): bigint {
  return isExpired(bucket, now) ? bucket.held : bucket.posted;
}

function computeBalance(buckets: readonly Bucket[], now: Date): Balance {
  const sum = (chosen: readonly Bucket[], count: (bucket: Bucket) => bigint): bigint =>
    chosen.reduce((total, bucket) => total + count(bucket), 0n);
  const countOf = (bucket: Bucket): bigint => countPosted(bucket, now);
  const ofMoney = buckets.filter(({ unit }) => unit === "money");
  const sumKind = (wanted: Bucket["kind"]): bigint =>
    sum(
      ofMoney.filter(({ kind }) => kind === wanted),
      countOf,
    );
  const [cash, gift, frozen] = [sumKind("cash"), sumKind("gift"), sum(ofMoney, ({ held }) => held)];
  const countQuota = (kind: QuotaKind): bigint =>
    sum(
      buckets.filter(({ unit }) => unit === kind),
      (bucket) => countOf(bucket) - bucket.held,
    );
  return {
    available: nano(cash + gift - frozen),
    frozen: nano(frozen),
    cash: nano(cash),
    gift: nano(gift),
    quotas: Object.fromEntries(quotaKinds.map((kind) => [kind, countQuota(kind)])) as Quotas,
  };
}
