import type { Bill } from "../../lib/bill.ts";
import type { AccountId, BucketId, HoldId, TransactionId } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import {
  type Bucket,
  type Cause,
  type Hold,
  type HoldLine,
  type KeySpending,
  type KnownTransaction,
  type LedgerState,
  nameSpending,
  type Posting,
  type Reserve,
  type Unit,
  type Wallet,
} from "./ledger-state.ts";

/** What a settlement was for. */
export type Charge = {
  id: TransactionId;
  holdId: HoldId;
  accountId: AccountId;
  keyId: string | null;
  unit: Unit;
  bill: Bill;
  paid: bigint;
  lost: bigint;
  createdAt: Date;
};

/** What a batch has decided to change. */
export type Changes = {
  /** When everything in it happened. */
  decidedAt: Date;
  accountIds: Set<AccountId>;
  buckets: Map<BucketId, Bucket>;
  openedBucketIds: Set<BucketId>;
  holds: Map<HoldId, Hold>;
  openedHoldIds: Set<HoldId>;
  postings: Posting[];
  charges: Charge[];
  spending: Map<string, KeySpending>;
  transactions: Map<TransactionId, KnownTransaction>;
  /**
   * Accounts of which something was decided that another process's charge in between would make wrong. What was decided
   * of all others is as right after it, if the amounts below are still to be had.
   */
  exactAccountIds: Set<AccountId>;
  /** The least that was available of each bucket after something of it was put on hold. */
  leastAvailable: Map<BucketId, bigint>;
  /** The most that was counted of each key's budget after something was added to it. */
  mostCounted: Map<string, { counted: bigint; budget: bigint }>;
  reserves: Map<AccountId, DecidedReserve>;
};

/**
 * What becomes of a reserve: its owner grants or renews it, from when on the lease counts; or another process revokes it, which
 * leaves amount and lease as they are; or the owner of a revoked one lowers it to what has begun.
 */
export type DecidedReserve = Reserve & { isRenewed: boolean };

/** The early calls of the process that decides, and its name as an owner of reserves. */
export type EarlyCalls = {
  isOwner(owner: string): boolean;
  /**
   * Returns the money that early calls may count on while the batch is being written. Lowers it to `left` where it is more,
   * but never below the cost of the calls that have begun.
   */
  limitEarly(accountId: AccountId, left: bigint): bigint;
};

/** For writers without early calls. */
const noEarlyCalls: EarlyCalls = { isOwner: () => false, limitEarly: () => 0n };

/** The state as it is after the operations of the batch so far: what they changed lies over what was there. */
export type Draft = {
  changes: Changes;
  now: Date;
  findWallet(accountId: AccountId): Wallet | undefined;
  findBucket(id: BucketId): Bucket | undefined;
  /** The account's open buckets, of every unit, in the order in which they are spent. */
  listBucketIds(accountId: AccountId): readonly BucketId[];
  findHold(id: HoldId): Hold | undefined;
  findTransaction(id: TransactionId): KnownTransaction | undefined;
  getSpending(name: { keyId: string; startsAt: Date; accountId: AccountId }): KeySpending;
  openBucket(bucket: Bucket): void;
  changeBucket(bucket: Bucket): void;
  openHold(hold: Hold): void;
  changeHold(hold: Hold): void;
  /** With the budget that limits it, `null` where none does or where nothing is added. */
  changeSpending(spending: KeySpending, budget: bigint | null): void;
  post(posting: Posting): void;
  /** Notes how little was left of a bucket when something of it had been put on hold. */
  noteAvailable(bucketId: BucketId, available: bigint): void;
  /** What was decided of this account is right for no other state of it. */
  requireExact(accountId: AccountId): void;
  /**
   * The money a hold must leave for early calls, of this process or of another. `left` is what the hold would leave: this
   * process begins no early call beyond it from now on.
   */
  limitReserved(accountId: AccountId, left: bigint): bigint;
  /** The hold of a call that has begun is being decided: from here on nothing has to be left for it. */
  confirmEarly(accountId: AccountId, amount: bigint): void;
  /** Another process's reserve stands in the way: it may not be renewed. */
  revokeReserve(accountId: AccountId): void;
};

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one draft; all of its functions change the same things.
export function createDraft(state: LedgerState, now: Date, early: EarlyCalls = noEarlyCalls): Draft {
  const changes: Changes = {
    decidedAt: now,
    accountIds: new Set(),
    buckets: new Map(),
    openedBucketIds: new Set(),
    holds: new Map(),
    openedHoldIds: new Set(),
    postings: [],
    charges: [],
    spending: new Map(),
    transactions: new Map(),
    exactAccountIds: new Set(),
    leastAvailable: new Map(),
    mostCounted: new Map(),
    reserves: new Map(),
  };
  const confirmed = new Map<AccountId, bigint>();
  /** Sorted once for each account and batch, and anew when a bucket is opened, or opened again by a refund. */
  const spendOrder = new Map<AccountId, BucketId[]>();
  const addedIds = new Map<AccountId, BucketId[]>();

  const findBucket = (id: BucketId): Bucket | undefined => changes.buckets.get(id) ?? state.buckets.get(id);

  function sortBuckets(accountId: AccountId): BucketId[] {
    const ids = new Set([...(state.bucketIds.get(accountId) ?? []), ...(addedIds.get(accountId) ?? [])]);
    const sorted = [...ids]
      .flatMap((id) => findBucket(id) ?? [])
      .toSorted(compareBuckets)
      .map(({ id }) => id);
    spendOrder.set(accountId, sorted);
    return sorted;
  }

  function addToOrder({ id, accountId }: Bucket): void {
    addedIds.set(accountId, [...(addedIds.get(accountId) ?? []), id]);
    spendOrder.delete(accountId);
  }

  return {
    changes,
    now,
    findWallet: (accountId) => state.wallets.get(accountId),
    findBucket,
    listBucketIds: (accountId) => spendOrder.get(accountId) ?? sortBuckets(accountId),
    findHold: (id) => changes.holds.get(id) ?? state.holds.get(id),
    findTransaction: (id) => changes.transactions.get(id) ?? state.transactions.get(id),
    getSpending: (name) =>
      changes.spending.get(nameSpending(name)) ??
      state.spending.get(nameSpending(name)) ?? { ...name, held: 0n, spent: 0n },
    openBucket(bucket) {
      changes.openedBucketIds.add(bucket.id);
      changes.buckets.set(bucket.id, bucket);
      changes.accountIds.add(bucket.accountId);
      addToOrder(bucket);
    },
    changeBucket(bucket) {
      if (bucket.held < 0n || bucket.posted < bucket.held) invariant(false, `${bucket.id} would be overdrawn`);
      if (!bucket.isOpen) addToOrder(bucket);
      const isOpen = bucket.kind === "cash" || bucket.posted !== 0n || bucket.held !== 0n;
      changes.buckets.set(bucket.id, isOpen === bucket.isOpen ? bucket : { ...bucket, isOpen });
      changes.accountIds.add(bucket.accountId);
    },
    openHold(hold) {
      changes.openedHoldIds.add(hold.id);
      changes.holds.set(hold.id, hold);
      changes.accountIds.add(hold.accountId);
    },
    changeHold(hold) {
      changes.holds.set(hold.id, hold);
      changes.accountIds.add(hold.accountId);
    },
    changeSpending(spending, budget) {
      invariant(spending.held >= 0n, `${spending.keyId} would hold less than nothing`);
      const name = nameSpending(spending);
      changes.spending.set(name, spending);
      if (budget === null) return;
      const counted = spending.held + spending.spent;
      const known = changes.mostCounted.get(name) ?? { counted, budget };
      changes.mostCounted.set(name, {
        counted: known.counted > counted ? known.counted : counted,
        budget: known.budget < budget ? known.budget : budget,
      });
    },
    post(posting) {
      changes.postings.push(posting);
      changes.accountIds.add(posting.accountId);
    },
    noteAvailable(bucketId, available) {
      const known = changes.leastAvailable.get(bucketId);
      if (known === undefined || available < known) changes.leastAvailable.set(bucketId, available);
    },
    requireExact: (accountId) => void changes.exactAccountIds.add(accountId),
    limitReserved(accountId, left) {
      const inBatch = confirmed.get(accountId) ?? 0n;
      const own = early.limitEarly(accountId, left + inBatch) - inBatch;
      const reserve = state.wallets.get(accountId)?.reserve ?? null;
      const others = reserve === null || early.isOwner(reserve.owner) ? 0n : reserve.amount;
      return own > others ? own : others;
    },
    confirmEarly(accountId, amount) {
      confirmed.set(accountId, (confirmed.get(accountId) ?? 0n) + amount);
    },
    revokeReserve(accountId) {
      const reserve = state.wallets.get(accountId)?.reserve ?? null;
      if (reserve === null || reserve.isRevoked || early.isOwner(reserve.owner)) return;
      changes.reserves.set(accountId, { ...reserve, isRevoked: true, isRenewed: false });
      changes.accountIds.add(accountId);
      changes.exactAccountIds.add(accountId);
    },
  };
}

/** Gifts before cash, what expires first before what expires later. */
export function compareBuckets(a: Bucket, b: Bucket): number {
  if ((a.kind === "cash") !== (b.kind === "cash")) return a.kind === "cash" ? 1 : -1;
  const difference = getExpiryMs(a) - getExpiryMs(b);
  // Two that never expire differ by no number at all.
  if (difference !== 0 && !Number.isNaN(difference)) return difference;
  return a.id < b.id ? -1 : Number(a.id > b.id);
}

function getExpiryMs({ expiresAt }: Bucket): number {
  return expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt.getTime();
}

export function isExpired(bucket: Bucket, now: Date): boolean {
  return bucket.expiresAt !== null && bucket.expiresAt <= now;
}

/** What can be spent or put on hold of a unit: nothing that is on hold already, nothing that has expired. */
export function sumAvailable(draft: Draft, accountId: AccountId, unit: Unit): bigint {
  let total = 0n;
  for (const id of draft.listBucketIds(accountId)) total += getAvailable(draft, draft.findBucket(id), unit);
  return total;
}

function getAvailable({ now }: Draft, bucket: Bucket | undefined, unit: Unit): bigint {
  return bucket === undefined || bucket.unit !== unit || isExpired(bucket, now) ? 0n : bucket.posted - bucket.held;
}

/**
 * Sets an amount aside, bucket after bucket. The caller has seen that it is there, and `reserved` beside it. Whether one
 * before it has nothing left is true for one state of the account only.
 */
export function setAside(
  draft: Draft,
  accountId: AccountId,
  { unit, amount, reserved }: { unit: Unit; amount: bigint; reserved: bigint },
): HoldLine[] {
  let lines: HoldLine[] = [];
  let left = amount;
  // What other buckets have is left by all who take from the first alone.
  const total = reserved === 0n ? 0n : sumAvailable(draft, accountId, unit);
  for (const bucketId of draft.listBucketIds(accountId)) {
    if (left === 0n) break;
    const bucket = requireBucket(draft, bucketId);
    if (bucket.unit !== unit || isExpired(bucket, draft.now)) continue;
    const available = bucket.posted - bucket.held;
    if (available < left) draft.requireExact(accountId);
    const part = available < left ? available : left;
    if (part === 0n) continue;
    draft.changeBucket({ ...bucket, held: bucket.held + part });
    const reservedHere = reserved === 0n ? 0n : reserved - (total - available);
    draft.noteAvailable(bucketId, available - part - (reservedHere > 0n ? reservedHere : 0n));
    lines = addLine(lines, { bucketId, amount: part });
    left -= part;
  }
  if (left !== 0n) invariant(false, `${left} of ${amount} could not be put on hold`);
  return lines;
}

/** Nearly always there is one, and a list that is made with it has no room for more; one that grows takes seventeen. */
export function addLine(lines: HoldLine[], line: HoldLine): HoldLine[] {
  return lines.length === 0 ? [line] : [...lines, line];
}

type Movement = Pick<Posting, "id" | "leg" | "kind" | "refundOf" | "fingerprint"> & { cause: Cause };

/** Adds to a bucket, from an account of the house. */
export function creditBucket(
  draft: Draft,
  movement: Movement,
  { bucketId, amount, from }: { bucketId: BucketId; amount: bigint; from: Posting["debit"] },
): void {
  const bucket = requireBucket(draft, bucketId);
  const changed = { ...bucket, posted: bucket.posted + amount, entryCount: bucket.entryCount + 1n };
  draft.changeBucket(changed);
  draft.post(describePosting(draft, movement, changed, { debit: from, credit: bucketId, amount }));
}

/** Takes from a bucket, for an account of the house, and releases what else was on hold. */
export function debitBucket(
  draft: Draft,
  movement: Movement,
  parts: { bucketId: BucketId; amount: bigint; unheld: bigint; to: Posting["credit"] },
): void {
  const bucket = requireBucket(draft, parts.bucketId);
  const changed = {
    ...bucket,
    posted: bucket.posted - parts.amount,
    held: bucket.held - parts.unheld,
    entryCount: bucket.entryCount + 1n,
  };
  draft.changeBucket(changed);
  const { amount, bucketId, to } = parts;
  draft.post(describePosting(draft, movement, changed, { debit: bucketId, credit: to, amount }));
}

export function unholdBucket(draft: Draft, { bucketId, amount }: HoldLine): void {
  const bucket = requireBucket(draft, bucketId);
  draft.changeBucket({ ...bucket, held: bucket.held - amount });
}

export function requireBucket(draft: Draft, id: BucketId): Bucket {
  const bucket = draft.findBucket(id);
  if (bucket === undefined) invariant(false, `the bucket ${id} was not loaded`);
  return bucket;
}

/** Of a bucket as it is afterwards. */
function describePosting(
  { now }: Draft,
  { id, leg, kind, refundOf, fingerprint, cause }: Movement,
  bucket: Bucket,
  { debit, credit, amount }: Pick<Posting, "debit" | "credit" | "amount">,
): Posting {
  const entry = { bucketId: bucket.id, number: bucket.entryCount, balanceAfter: bucket.posted };
  const { accountId, unit } = bucket;
  return { id, leg, accountId, kind, unit, debit, credit, amount, entry, refundOf, fingerprint, cause, createdAt: now };
}
