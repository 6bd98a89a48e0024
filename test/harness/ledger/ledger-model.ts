import type { Charge } from "../../../src/features/ledger/draft.ts";
import type { Bucket, Hold, HoldLine, KeySpending, Posting, Unit } from "../../../src/features/ledger/ledger-state.ts";
import type {
  AdjustOperation,
  ExpireBucketOperation,
  ExpireHoldOperation,
  ExtendOperation,
  GrantOperation,
  HoldOperation,
  Operation,
  RefundOperation,
  ReleaseOperation,
  Result,
  ResultOf,
  SettleOperation,
  TopUpOperation,
} from "../../../src/features/ledger/operation.ts";
import type { Bill } from "../../../src/lib/bill.ts";
import type { BudgetPeriod } from "../../../src/lib/budget.ts";
import type { AccountId, BucketId, HoldId, TransactionId } from "../../../src/lib/ids.ts";

// Repeated here, so that a mistake in the ledger's own constants is found.
export const moneyMax = 9_000_000_000_000_000_000n;
export const quotaUnitsMax = 9_000_000_000_000_000n;

type PicturedHold = Omit<Hold, "fingerprint" | "settlementFingerprint">;
type PicturedPosting = Omit<Posting, "fingerprint">;

/** The whole state of a ledger, in an order that does not depend on the implementation. */
export type LedgerPicture = {
  buckets: Bucket[];
  holds: PicturedHold[];
  spending: KeySpending[];
  postings: PicturedPosting[];
  charges: Charge[];
};

/**
 * A second implementation of the ledger from its rules alone: append-only lists, and every balance summed up on each
 * read. Slow, and too simple to have the same bugs.
 */
export type LedgerModel = {
  apply(operation: Operation, now: Date): Result;
  setFrozen(accountId: AccountId, isFrozen: boolean): void;
  sumAvailable(accountId: AccountId, unit: Unit, now: Date): bigint;
  /** The remaining budget in the period of this time. */
  sumBudgetLeft(budget: { keyId: string; period: BudgetPeriod; amount: bigint }, now: Date): bigint;
  sumRefundable(chargeId: TransactionId): bigint;
  picture(): LedgerPicture;
};

type ModelBucket = Pick<Bucket, "id" | "accountId" | "kind" | "unit" | "expiresAt" | "openedAt">;
type ModelHold = PicturedHold & { content: string; settlementContent: string | null };

type Movement = Omit<PicturedPosting, "leg" | "entry" | "debit" | "credit"> & {
  bucketId: BucketId;
} & ({ from: Posting["debit"] } | { to: Posting["credit"] });

export function createLedgerModel(accountIds: Iterable<AccountId>): LedgerModel {
  const accounts = new Set(accountIds);
  const frozen = new Set<AccountId>();
  const buckets: ModelBucket[] = [];
  const holds: ModelHold[] = [];
  const postings: PicturedPosting[] = [];
  const charges: Charge[] = [];
  /** The content of each booked operation. */
  const contents = new Map<TransactionId, string>();

  // Sums

  function sumPosted(bucketId: BucketId): bigint {
    let total = 0n;
    for (const { credit, debit, amount } of postings) {
      if (credit === bucketId) total += amount;
      if (debit === bucketId) total -= amount;
    }
    return total;
  }

  function sumHeld(bucketId: BucketId): bigint {
    let total = 0n;
    for (const { state, lines } of holds)
      for (const line of lines) if (state === "open" && line.bucketId === bucketId) total += line.amount;
    return total;
  }

  function sumFree(bucketId: BucketId): bigint {
    return sumPosted(bucketId) - sumHeld(bucketId);
  }

  function listSpendable(accountId: AccountId, unit: Unit, now: Date): ModelBucket[] {
    return buckets
      .filter((bucket) => bucket.accountId === accountId && bucket.unit === unit && !isOver(bucket.expiresAt, now))
      .toSorted(compareTurns);
  }

  function sumAvailable(accountId: AccountId, unit: Unit, now: Date): bigint {
    return sum(listSpendable(accountId, unit, now).map(({ id }) => sumFree(id)));
  }

  function sumSpending(keyId: string, startsAt: Date): { held: bigint; spent: bigint } {
    const counted = holds.filter(({ budget }) => budget?.keyId === keyId && isSame(budget.startsAt, startsAt));
    return {
      held: sum(counted.filter(({ state }) => state === "open").map(({ amount }) => amount)),
      spent: sum(counted.map(({ settled }) => settled)),
    };
  }

  function sumLeft(keyId: string, startsAt: Date, budget: bigint): bigint {
    const { held, spent } = sumSpending(keyId, startsAt);
    return atLeastZero(budget - held - spent);
  }

  function sumRefundable(chargeId: TransactionId): bigint {
    return sum(listCharged(chargeId).map(({ amount }) => amount)) - sum(listRefunds(chargeId).map((one) => one.amount));
  }

  function listCharged(chargeId: TransactionId): PicturedPosting[] {
    return postings.filter(({ id, kind }) => id === chargeId && kind === "charge");
  }

  function listRefunds(chargeId: TransactionId): PicturedPosting[] {
    return postings.filter(({ refundOf }) => refundOf === chargeId);
  }

  function countEntries(bucketId: BucketId): number {
    return postings.filter(({ entry }) => entry?.bucketId === bucketId).length;
  }

  // Steps shared by several operations

  /** Pays an amount from these places, each in turn as far as it goes. */
  function fill(amount: bigint, places: readonly HoldLine[]): HoldLine[] {
    const parts: HoldLine[] = [];
    for (const { bucketId, amount: room } of places) {
      const part = smallest(room, amount - sum(parts.map((one) => one.amount)));
      if (part > 0n) parts.push({ bucketId, amount: part });
    }
    return parts;
  }

  function pickLines(accountId: AccountId, unit: Unit, { amount, now }: { amount: bigint; now: Date }): HoldLine[] {
    const places = listSpendable(accountId, unit, now).map(({ id }) => ({ bucketId: id, amount: sumFree(id) }));
    return fill(amount, places);
  }

  function raise(hold: ModelHold, more: bigint, now: Date): void {
    const added = pickLines(hold.accountId, hold.unit, { amount: more, now });
    hold.lines = mergeLines([...hold.lines, ...added]);
    hold.amount += more;
  }

  function move({ bucketId, ...movement }: Movement): void {
    const { from, to, ...rest } = { from: bucketId, to: bucketId, ...movement };
    const number = BigInt(countEntries(bucketId)) + 1n;
    const change = from === bucketId ? -rest.amount : rest.amount;
    const entry = { bucketId, number, balanceAfter: sumPosted(bucketId) + change };
    postings.push({ ...rest, leg: countLegs(rest.id), debit: from, credit: to, entry });
  }

  function countLegs(id: TransactionId): number {
    return postings.filter((posting) => posting.id === id).length;
  }

  function findHold({ holdId, accountId }: { holdId: HoldId; accountId: AccountId }): ModelHold | undefined {
    return holds.find((hold) => hold.id === holdId && hold.accountId === accountId);
  }

  function findCash(accountId: AccountId): ModelBucket | undefined {
    return buckets.find((bucket) => bucket.accountId === accountId && bucket.kind === "cash");
  }

  function creditCash(
    operation: TopUpOperation | AdjustOperation,
    now: Date,
    booking: Pick<Posting, "kind" | "debit">,
  ): { kind: "booked"; isReplay: false } | { kind: "too-large" } {
    const { id, accountId, amount, cause } = operation;
    const bucketId: BucketId = `bkt_${suffixOf(accountId)}`;
    if (sumPosted(bucketId) + amount > moneyMax) return { kind: "too-large" };
    if (findCash(accountId) === undefined)
      buckets.push({ id: bucketId, accountId, kind: "cash", unit: "money", expiresAt: null, openedAt: now });
    const { kind, debit: from } = booking;
    move({ id, accountId, kind, unit: "money", from, bucketId, amount, refundOf: null, cause, createdAt: now });
    return { kind: "booked", isReplay: false };
  }

  /** The answer to an id that was booked before, or `null` when it is new. */
  function answerKnown(id: TransactionId, content: string): { kind: "booked"; isReplay: true } | IdReused | null {
    if (countLegs(id) === 0) return null;
    return contents.get(id) === content ? { kind: "booked", isReplay: true } : { kind: "id-reused" };
  }

  function remember<R extends Result>(id: TransactionId, content: string, result: R): R {
    if (result.kind === "booked") contents.set(id, content);
    return result;
  }

  // Operations

  function applyHold(operation: HoldOperation, now: Date): ResultOf<HoldOperation> {
    const { id, accountId, quota, budget, cause, expiresAt } = operation;
    const content = tell(accountId, operation.amount, quota?.kind, quota?.units, budget?.keyId, cause.kind, cause.id);
    const known = holds.find((hold) => hold.id === id);
    if (known !== undefined) {
      if (known.content !== content) return { kind: "id-reused" };
      if (known.refusal !== null) return { kind: "refused", ...known.refusal, isReplay: true };
      return { kind: "held", unit: known.unit, amount: known.amount, isReplay: true };
    }

    const isPaidWithQuota = quota !== null && sumAvailable(accountId, quota.kind, now) >= quota.units;
    const unit = isPaidWithQuota ? quota.kind : "money";
    const amount = isPaidWithQuota ? quota.units : operation.amount;
    const period = budget === null || isPaidWithQuota ? null : findPeriod(budget.period, now);
    const refusal = findRefusal();
    holds.push({
      id,
      accountId,
      unit,
      amount,
      lines: refusal === null ? pickLines(accountId, unit, { amount, now }) : [],
      state: refusal === null ? "open" : "refused",
      settled: 0n,
      refusal,
      keyId: operation.keyId ?? budget?.keyId ?? null,
      budget: refusal !== null || budget === null || period === null ? null : { keyId: budget.keyId, startsAt: period },
      cause,
      expiresAt,
      openedAt: now,
      resolvedAt: refusal === null ? null : now,
      content,
      settlementContent: null,
    });
    if (refusal !== null) return { kind: "refused", ...refusal, isReplay: false };
    return { kind: "held", unit, amount, isReplay: false };

    function findRefusal(): Hold["refusal"] {
      if (frozen.has(accountId)) return { reason: "account-frozen", missing: 0n };
      if (budget !== null && period !== null) {
        const left = sumLeft(budget.keyId, period, budget.amount);
        if (left < amount) return { reason: "key-budget-exceeded", missing: amount - left };
      }
      const available = sumAvailable(accountId, unit, now);
      return available < amount ? { reason: "insufficient-balance", missing: amount - available } : null;
    }
  }

  function applyExtend(operation: ExtendOperation, now: Date): ResultOf<ExtendOperation> {
    const hold = findHold(operation);
    if (hold === undefined) return { kind: "no-such-hold" };
    if (hold.state !== "open") return { kind: "already-resolved", state: hold.state };
    const target = hold.unit === "money" ? operation.amount : operation.quotaUnits;
    const more = atLeastZero(target - hold.amount);
    if (more > 0n) {
      const refusal = findRefusal(hold);
      if (refusal !== null) return { kind: "refused", ...refusal, isReplay: false };
      raise(hold, more, now);
    }
    if (operation.expiresAt !== null && operation.expiresAt > hold.expiresAt) hold.expiresAt = operation.expiresAt;
    return { kind: "extended", amount: hold.amount };

    function findRefusal({ accountId, unit, budget }: ModelHold): Hold["refusal"] {
      if (frozen.has(accountId)) return { reason: "account-frozen", missing: 0n };
      if (budget !== null && operation.budgetAmount !== null) {
        const left = sumLeft(budget.keyId, budget.startsAt, operation.budgetAmount);
        if (left < more) return { reason: "key-budget-exceeded", missing: more - left };
      }
      const available = sumAvailable(accountId, unit, now);
      return available < more ? { reason: "insufficient-balance", missing: more - available } : null;
    }
  }

  function applySettle(operation: SettleOperation, now: Date): ResultOf<SettleOperation> {
    const { bill, overrun, budgetAmount } = operation;
    const hold = findHold(operation);
    if (hold === undefined) return { kind: "no-such-hold" };
    const cost = hold.unit === "money" ? computeCost(bill) : bill.quotaUnits;
    const { priceId, per, minimum, quotaUnits, items } = bill;
    const parts = items.flatMap(({ name, quantity, rate }) => [name, quantity, rate]);
    const content = tell(operation.accountId, overrun, priceId, per, minimum, quotaUnits, ...parts);
    if (hold.state === "settled" && hold.settlementContent === content)
      return { kind: "settled", unit: hold.unit, paid: hold.settled, lost: cost - hold.settled, isReplay: true };
    if (hold.state !== "open") return { kind: "already-resolved", state: hold.state };

    const missing = atLeastZero(cost - hold.amount);
    if (missing > 0n && overrun === "refuse") return { kind: "over-hold", missing };
    if (missing > 0n && overrun === "take-available" && !frozen.has(hold.accountId)) {
      const limits = [missing, sumAvailable(hold.accountId, hold.unit, now)];
      if (hold.budget !== null && budgetAmount !== null)
        limits.push(sumLeft(hold.budget.keyId, hold.budget.startsAt, budgetAmount));
      raise(hold, smallest(...limits), now);
    }

    const paid = smallest(cost, hold.amount);
    const lost = cost - paid;
    hold.state = "settled";
    hold.settled = paid;
    hold.settlementContent = content;
    hold.resolvedAt = now;
    const { accountId, keyId, unit, cause } = hold;
    const id: TransactionId = `txn_${suffixOf(hold.id)}`;
    const facts = { id, accountId, unit, refundOf: null, cause, createdAt: now };
    for (const { bucketId, amount } of fill(paid, sortLines(hold.lines)))
      move({ ...facts, kind: "charge", bucketId, to: "revenue", amount });
    if (lost > 0n) {
      const leg = countLegs(id);
      postings.push({ ...facts, leg, kind: "loss", debit: "loss", credit: "revenue", amount: lost, entry: null });
    }
    charges.push({ id, holdId: hold.id, accountId, keyId, unit, bill, paid, lost, createdAt: now });
    return { kind: "settled", unit, paid, lost, isReplay: false };
  }

  function sortLines(lines: readonly HoldLine[]): HoldLine[] {
    const order = buckets.toSorted(compareTurns).map(({ id }) => id);
    return lines.toSorted((a, b) => order.indexOf(a.bucketId) - order.indexOf(b.bucketId));
  }

  function applyRelease(operation: ReleaseOperation, now: Date): ResultOf<ReleaseOperation> {
    const hold = findHold(operation);
    if (hold === undefined) return { kind: "no-such-hold" };
    if (hold.state === "released") return { kind: "released", isReplay: true };
    if (hold.state !== "open") return { kind: "already-resolved", state: hold.state };
    hold.state = "released";
    hold.resolvedAt = now;
    return { kind: "released", isReplay: false };
  }

  function applyExpireHold(operation: ExpireHoldOperation, now: Date): ResultOf<ExpireHoldOperation> {
    const hold = findHold(operation);
    if (hold === undefined) return { kind: "no-such-hold" };
    if (hold.state === "expired") return { kind: "expired", isReplay: true };
    if (hold.state !== "open") return { kind: "already-resolved", state: hold.state };
    if (hold.expiresAt > now) return { kind: "not-due" };
    hold.state = "expired";
    hold.resolvedAt = now;
    return { kind: "expired", isReplay: false };
  }

  function applyTopUp(operation: TopUpOperation, now: Date): ResultOf<TopUpOperation> {
    const { id, accountId, amount, channel } = operation;
    const content = tell("top-up", accountId, amount, channel);
    const booking = { kind: "top_up", debit: `funding:${channel}` } as const;
    return answerKnown(id, content) ?? remember(id, content, creditCash(operation, now, booking));
  }

  function applyGrant(operation: GrantOperation, now: Date): ResultOf<GrantOperation> {
    const { id, accountId, unit, amount, expiresAt, channel, cause } = operation;
    const content = tell("grant", accountId, amount, unit, channel);
    const known = answerKnown(id, content);
    if (known !== null) return known;
    if (isOver(expiresAt, now)) return { kind: "already-expired" };
    const ofUnit = buckets.filter((bucket) => bucket.accountId === accountId && bucket.unit === unit);
    if (sum(ofUnit.map((bucket) => sumPosted(bucket.id))) + amount > maxOf(unit)) return { kind: "too-large" };
    const bucketId: BucketId = `bkt_${suffixOf(id)}`;
    const kind = unit === "money" ? "gift" : "quota";
    buckets.push({ id: bucketId, accountId, kind, unit, expiresAt, openedAt: now });
    const from = `funding:${channel}` as const;
    move({ id, accountId, kind: "grant", unit, from, bucketId, amount, refundOf: null, cause, createdAt: now });
    return remember(id, content, { kind: "booked", isReplay: false });
  }

  function applyAdjust(operation: AdjustOperation, now: Date): ResultOf<AdjustOperation> {
    const { id, accountId, amount, reverses, cause } = operation;
    const content =
      reverses === undefined ? tell("adjust", accountId, amount) : tell("adjust", accountId, amount, reverses);
    const kind = reverses === undefined ? "adjustment" : "reversal";
    const house = reverses === undefined ? ("adjustments" as const) : (`funding:${reverses}` as const);
    const known = answerKnown(id, content);
    if (known !== null) return known;
    if (amount > 0n) return remember(id, content, creditCash(operation, now, { kind, debit: house }));
    const cash = findCash(accountId);
    const free = cash === undefined ? 0n : sumFree(cash.id);
    if (cash === undefined || free < -amount)
      return { kind: "refused", reason: "insufficient-balance", missing: -amount - free, isReplay: false };
    const facts = { id, accountId, unit: "money", refundOf: null, cause, createdAt: now } as const;
    move({ ...facts, kind, bucketId: cash.id, to: house, amount: -amount });
    return remember(id, content, { kind: "booked", isReplay: false });
  }

  function applyRefund(operation: RefundOperation, now: Date): ResultOf<RefundOperation> {
    const { id, accountId, chargeId, amount, cause } = operation;
    const content = tell("refund", accountId, amount, chargeId);
    const known = answerKnown(id, content);
    if (known !== null) return known;
    const charged = listCharged(chargeId).filter((posting) => posting.accountId === accountId);
    const [first] = charged;
    if (first === undefined) return { kind: "no-such-charge" };
    const refundable = sumRefundable(chargeId);
    if (amount > refundable) return { kind: "over-charge", refundable };

    const places = charged.toReversed().flatMap((posting) => {
      const bucketId = posting.entry?.bucketId;
      if (bucketId === undefined) return [];
      const back = listRefunds(chargeId).filter(({ credit }) => credit === bucketId);
      return [{ bucketId, amount: posting.amount - sum(back.map((refund) => refund.amount)) }];
    });
    const parts = fill(amount, places);
    if (parts.some((part) => sumPosted(part.bucketId) + part.amount > maxOf(first.unit))) return { kind: "too-large" };
    const facts = { id, accountId, unit: first.unit, refundOf: chargeId, cause, createdAt: now };
    for (const part of parts) move({ ...facts, ...part, kind: "refund", from: "revenue" });
    return remember(id, content, { kind: "booked", isReplay: false });
  }

  function applyExpireBucket(operation: ExpireBucketOperation, now: Date): ResultOf<ExpireBucketOperation> {
    const { accountId, bucketId, when, cause } = operation;
    const bucket = buckets.find(({ id }) => id === bucketId);
    if (bucket === undefined || bucket.accountId !== accountId || bucket.kind === "cash")
      return { kind: "no-such-bucket" };
    if (!isOver(bucket.expiresAt, now)) {
      if (when === "due") return { kind: "not-due" };
      bucket.expiresAt = now;
    }
    const amount = sumFree(bucketId);
    if (amount > 0n) {
      const id: TransactionId = `txn_${suffixOf(bucketId)}.${countEntries(bucketId) + 1}`;
      const facts = { id, accountId, unit: bucket.unit, refundOf: null, cause, createdAt: now };
      move({ ...facts, kind: "expiry", bucketId, to: "expired", amount });
    }
    return { kind: "expired", amount };
  }

  return {
    apply(operation, now) {
      if (!accounts.has(operation.accountId)) return { kind: "no-such-account" };
      switch (operation.kind) {
        case "hold":
          return applyHold(operation, now);
        case "extend":
          return applyExtend(operation, now);
        case "settle":
          return applySettle(operation, now);
        case "release":
          return applyRelease(operation, now);
        case "expire-hold":
          return applyExpireHold(operation, now);
        case "top-up":
          return applyTopUp(operation, now);
        case "grant":
          return applyGrant(operation, now);
        case "adjust":
          return applyAdjust(operation, now);
        case "refund":
          return applyRefund(operation, now);
        case "expire-bucket":
          return applyExpireBucket(operation, now);
      }
    },
    setFrozen(accountId, isFrozen) {
      if (isFrozen) frozen.add(accountId);
      else frozen.delete(accountId);
    },
    sumAvailable,
    sumBudgetLeft: ({ keyId, period, amount }, now) => sumLeft(keyId, findPeriod(period, now), amount),
    sumRefundable,
    picture: () => ({
      buckets: buckets
        .map((bucket) => {
          const posted = sumPosted(bucket.id);
          const entryCount = BigInt(countEntries(bucket.id));
          const isOpen = bucket.kind === "cash" || posted > 0n;
          return { ...bucket, posted, held: sumHeld(bucket.id), entryCount, isOpen };
        })
        .toSorted(compareIds),
      holds: holds
        .map(({ content, settlementContent, ...hold }) => ({ ...hold, lines: presentLines(hold.lines) }))
        .toSorted(compareIds),
      spending: listSpending(),
      postings: [...postings],
      charges: [...charges],
    }),
  };

  function listSpending(): KeySpending[] {
    const names = holds.flatMap(({ accountId, budget }) => (budget === null ? [] : [{ ...budget, accountId }]));
    const distinct = new Map(names.map((name) => [tell(name.keyId, name.startsAt.getTime()), name]));
    return presentSpending(
      [...distinct.values()].map((name) => ({ ...name, ...sumSpending(name.keyId, name.startsAt) })),
    );
  }
}

type IdReused = { kind: "id-reused" };

/** The price of a bill by schoolbook division: whole parts, and one more if the rest is at least half a part. */
export function computeCost({ items, per, minimum }: Bill): bigint {
  const total = sum(items.map(({ quantity, rate }) => quantity * rate));
  const rest = total % per;
  const rounded = (total - rest) / per + (rest + rest >= per ? 1n : 0n);
  return rounded < minimum ? minimum : rounded;
}

/** The start of the period, found by walking back day by day. */
function findPeriod(period: BudgetPeriod, now: Date): Date {
  if (period === "total") return new Date("1970-01-01T00:00:00.000Z");
  let day = new Date(`${now.toISOString().slice(0, 10)}T00:00:00.000Z`);
  const isFirst = (): boolean =>
    period === "day" || (period === "week" ? day.getUTCDay() === 1 : day.toISOString().slice(8, 10) === "01");
  while (!isFirst()) day = new Date(day.getTime() - 24 * 60 * 60 * 1000);
  return day;
}

/** Merges lines of the same bucket. */
function mergeLines(lines: readonly HoldLine[]): HoldLine[] {
  const bucketIds = [...new Set(lines.map(({ bucketId }) => bucketId))];
  return bucketIds.map((bucketId) => ({
    bucketId,
    amount: sum(lines.filter((line) => line.bucketId === bucketId).map(({ amount }) => amount)),
  }));
}

/** Normalized: parts of a bucket may have been put on hold separately. */
export function presentLines(lines: readonly HoldLine[]): HoldLine[] {
  return mergeLines(lines).toSorted((a, b) => (a.bucketId < b.bucketId ? -1 : 1));
}

/** Normalized: a period without spending may or may not have a row. */
export function presentSpending(spending: Iterable<KeySpending>): KeySpending[] {
  const nameOf = ({ keyId, startsAt }: KeySpending): string => tell(keyId, startsAt.getTime());
  return [...spending]
    .filter(({ held, spent }) => held !== 0n || spent !== 0n)
    .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

export function compareIds(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1;
}

export function maxOf(unit: Unit): bigint {
  return unit === "money" ? moneyMax : quotaUnitsMax;
}

/** Gifts before cash, the earliest expiry first, those without one last, and then by id. */
function compareTurns(a: ModelBucket, b: ModelBucket): number {
  if ((a.kind === "cash") !== (b.kind === "cash")) return a.kind === "cash" ? 1 : -1;
  const [endOfA, endOfB] = [a, b].map(({ expiresAt }) => expiresAt?.getTime() ?? Number.MAX_SAFE_INTEGER);
  return (endOfA ?? 0) - (endOfB ?? 0) || compareIds(a, b);
}

function isOver(expiresAt: Date | null, now: Date): boolean {
  return expiresAt !== null && expiresAt <= now;
}

function isSame(a: Date, b: Date): boolean {
  return a.getTime() === b.getTime();
}

function suffixOf(id: string): string {
  return id.slice(id.indexOf("_") + 1);
}

function tell(...values: readonly (string | number | bigint | undefined)[]): string {
  return JSON.stringify(values.map((value) => (value === undefined ? null : String(value))));
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}

function smallest(...values: readonly bigint[]): bigint {
  return values.reduce((least, value) => (value < least ? value : least));
}

function atLeastZero(value: bigint): bigint {
  return value < 0n ? 0n : value;
}
