import { type Nano, nano } from "../../lib/money.ts";
import { type QuotaKind, type Quotas, quotaKinds } from "../../lib/plan-terms.ts";
import { isExpired } from "./draft.ts";
import type { Bucket } from "./ledger-state.ts";

export type Balance = {
  available: Nano;
  /** On hold for work that is not finished. */
  frozen: Nano;
  cash: Nano;
  gift: Nano;
  /** What is left of each quota and not on hold. */
  quotas: Quotas;
};

/** Cash and gift count what is on hold too; a gift that has expired counts only as far as work still holds it. */
export function computeBalance(buckets: readonly Bucket[], now: Date): Balance {
  const countOf = (bucket: Bucket): bigint => (isExpired(bucket, now) ? bucket.held : bucket.posted);
  const sum = (chosen: readonly Bucket[], count: (bucket: Bucket) => bigint): bigint =>
    chosen.reduce((total, bucket) => total + count(bucket), 0n);
  const ofMoney = buckets.filter(({ unit }) => unit === "money");
  const cash = sum(
    ofMoney.filter(({ kind }) => kind === "cash"),
    countOf,
  );
  const gift = sum(
    ofMoney.filter(({ kind }) => kind === "gift"),
    countOf,
  );
  const frozen = sum(ofMoney, ({ held }) => held);
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
