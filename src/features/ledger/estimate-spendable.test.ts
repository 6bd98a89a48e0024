import fc from "fast-check";
import { expect, test } from "vitest";
import { type Budget, findPeriodStart } from "../../lib/budget.ts";
import type { BucketId } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import { applyBatch } from "./apply-batch.ts";
import { estimateSpendable } from "./estimate-spendable.ts";
import { type Bucket, type LedgerState, nameSpending } from "./ledger-state.ts";

const now = new Date("2026-03-10T12:00:00Z");
const accountId = "acct_1";
const keyId = "key_1";

type BucketShape = Pick<Bucket, "kind" | "unit" | "posted" | "held" | "expiresAt">;

const cash: BucketShape = { kind: "cash", unit: "money", posted: 100n, held: 0n, expiresAt: null };

type Remembered = {
  buckets?: readonly BucketShape[];
  isFrozen?: boolean;
  spent?: { held: bigint; spent: bigint; period: Budget["period"] };
};

/** A cache with one account. */
function createState({ buckets = [cash], isFrozen = false, spent }: Remembered): LedgerState {
  const known = buckets.map((shape, index): Bucket => {
    const id: BucketId = `bkt_${index}`;
    return { ...shape, id, accountId, entryCount: 1n, isOpen: true, openedAt: now };
  });
  const startsAt = findPeriodStart(spent?.period ?? "total", now);
  return {
    wallets: new Map([[accountId, { version: 1n, shape: 1n, isFrozen, reserve: null }]]),
    buckets: new Map(known.map((bucket) => [bucket.id, bucket])),
    bucketIds: new Map([[accountId, new Set(known.map(({ id }) => id))]]),
    holds: new Map(),
    transactions: new Map(),
    spending: new Map(
      spent === undefined ? [] : [[nameSpending({ keyId, startsAt }), { keyId, startsAt, accountId, ...spent }]],
    ),
  };
}

function estimate(remembered: Remembered, budget: Budget | null = null): bigint | null {
  const own = budget === null ? null : { ...budget, keyId };
  return estimateSpendable(createState(remembered), accountId, { budget: own, now });
}

test("an account that is not cached has no estimate", () => {
  expect(estimateSpendable(createState({}), "acct_2", { budget: null, now })).toBeNull();
});

test("counts money that is neither on hold nor expired, and no quotas", () => {
  const gift = (expiresAt: Date | null): BucketShape => ({ ...cash, kind: "gift", posted: 7n, expiresAt });
  expect(estimate({ buckets: [] })).toBe(0n);
  expect(estimate({ buckets: [{ ...cash, held: 30n }] })).toBe(70n);
  expect(estimate({ buckets: [cash, gift(null), gift(new Date(now.getTime() + 1))] })).toBe(114n);
  expect(estimate({ buckets: [cash, gift(now), gift(new Date(0))] })).toBe(100n);
  expect(estimate({ buckets: [cash, { ...cash, kind: "quota", unit: "text" }] })).toBe(100n);
});

test("a frozen account can spend nothing", () => {
  expect(estimate({ isFrozen: true })).toBe(0n);
});

test("a key with a budget can spend the rest of its period, at most the account's balance", () => {
  const budget = (amount: bigint): Budget => ({ amount: nano(amount), period: "day" });
  const spent = { held: 10n, spent: 20n, period: "day" as const };
  expect(estimate({ spent }, budget(90n))).toBe(60n);
  expect(estimate({ spent }, budget(129n))).toBe(99n);
  expect(estimate({ spent }, budget(131n))).toBe(100n);
  expect(estimate({ spent }, budget(30n))).toBe(0n);
  expect(estimate({ spent }, budget(29n))).toBe(0n);
});

test("a budget whose period is not cached has no estimate", () => {
  const budget = { amount: nano(50n), period: "day" } as const;
  expect(estimate({}, budget)).toBeNull();
  expect(estimate({ spent: { held: 0n, spent: 0n, period: "month" } }, budget)).toBeNull();
});

const anyAmount = fc.bigInt({ min: 0n, max: 1000n });
const anyBucket = fc
  .record({
    kind: fc.constantFrom("cash", "gift", "quota"),
    posted: anyAmount,
    held: anyAmount,
    expiresAt: fc.constantFrom(null, new Date(now.getTime() - 1), now, new Date(now.getTime() + 1)),
  })
  .map(
    ({ kind, posted, held, expiresAt }): BucketShape => ({
      kind: kind as Bucket["kind"],
      unit: kind === "quota" ? "text" : "money",
      posted: posted + held,
      held,
      expiresAt,
    }),
  );

test("the ledger accepts a hold of the estimate, and not a billionth more", () => {
  fc.assert(
    fc.property(
      fc.array(anyBucket, { maxLength: 5 }),
      fc.option(fc.record({ amount: anyAmount, held: anyAmount, spent: anyAmount })),
      (buckets, limit) => {
        const spent = limit === null ? undefined : { held: limit.held, spent: limit.spent, period: "day" as const };
        const state = createState({ buckets, ...(spent === undefined ? {} : { spent }) });
        const budget = limit === null ? null : { amount: nano(limit.amount), period: "day" as const, keyId };
        const spendable = estimateSpendable(state, accountId, { budget, now }) ?? -1n;
        const decide = (amount: bigint) => {
          const hold = {
            kind: "hold",
            id: "hold_1",
            accountId,
            amount: nano(amount),
            quota: null,
            budget,
            cause: { kind: "request", id: "req_1" },
            expiresAt: new Date(now.getTime() + 60_000),
          } as const;
          return applyBatch(state, [hold], now).results[0]?.kind;
        };
        if (spendable > 0n) expect(decide(spendable)).toBe("held");
        expect(decide(spendable + 1n)).toBe("refused");
      },
    ),
  );
});
