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

/** The bill of a settlement. */
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

export type Changes = {
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
   * Accounts whose decision is valid only for the exact version it was made on. Decisions on other accounts stay valid
   * after another process's write, as long as the amounts below are still available.
   */
  exactAccountIds: Set<AccountId>;
  /** The lowest available amount of each bucket after a hold on it. */
  leastAvailable: Map<BucketId, bigint>;
  /** The highest counted amount of each key's budget. */
  mostCounted: Map<string, { counted: bigint; budget: bigint }>;
  reserves: Map<AccountId, DecidedReserve>;
};

/**
 * A change of a reserve. Its owner grants or renews it, which restarts the lease. Another process revokes it, which keeps
 * amount and lease. The owner of a revoked reserve lowers it to the calls that have started.
 */
export type DecidedReserve = Reserve & { isRenewed: boolean };

/** The deciding process's reserves for early calls. */
export type EarlyCalls = {
  isOwner(owner: string): boolean;
  /**
   * Returns the money that early calls may count on while the batch is being written: at most `left`, but never less than
   * the calls that have started need.
   */
  limitEarly(accountId: AccountId, left: bigint): bigint;
};

/** For writers without early calls. */
const noEarlyCalls: EarlyCalls = { isOwner: () => false, limitEarly: () => 0n };

/** The state after the batch's operations so far: changes on top of the loaded state. */
export type Draft = {
  changes: Changes;
  now: Date;
  findWallet(accountId: AccountId): Wallet | undefined;
  findBucket(id: BucketId): Bucket | undefined;
  /** The account's open buckets of all units, in spend order. */
  listBucketIds(accountId: AccountId): readonly BucketId[];
  findHold(id: HoldId): Hold | undefined;
  findTransaction(id: TransactionId): KnownTransaction | undefined;
  getSpending(name: { keyId: string; startsAt: Date; accountId: AccountId }): KeySpending;
  openBucket(bucket: Bucket): void;
  changeBucket(bucket: Bucket): void;
  openHold(hold: Hold): void;
  changeHold(hold: Hold): void;
  /** `budget` is `null` if no budget applies or nothing is added. */
  changeSpending(spending: KeySpending, budget: bigint | null): void;
  post(posting: Posting): void;
  /** Records what is available of a bucket after a hold on it. */
  noteAvailable(bucketId: BucketId, available: bigint): void;
  /** Makes this account's decision valid only for the exact version it was made on. */
  requireExact(accountId: AccountId): void;
  /**
   * The money that a hold must leave for early calls of any process. `left` is what the hold would leave; from now on this
   * process starts no early call beyond it.
   */
  limitReserved(accountId: AccountId, left: bigint): bigint;
  /** The hold of an early call is decided in this batch, so nothing has to be left for it any more. */
  confirmEarly(accountId: AccountId, amount: bigint): void;
  /** Another process's reserve blocks a hold: stop its renewal. */
  revokeReserve(accountId: AccountId): void;
};

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one draft; its functions share its state.
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
  /** Cached per account and batch; invalidated when a bucket is opened, or reopened by a refund. */
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
      invariant(spending.held >= 0n, `${spending.keyId} would have a negative hold`);
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

/** The spend order: gifts before cash, those that expire first before the others. */
export function compareBuckets(a: Bucket, b: Bucket): number {
  if ((a.kind === "cash") !== (b.kind === "cash")) return a.kind === "cash" ? 1 : -1;
  const difference = getExpiryMs(a) - getExpiryMs(b);
  // Infinity - Infinity is NaN: neither expires.
  if (difference !== 0 && !Number.isNaN(difference)) return difference;
  return a.id < b.id ? -1 : Number(a.id > b.id);
}

function getExpiryMs({ expiresAt }: Bucket): number {
  return expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt.getTime();
}

export function isExpired(bucket: Bucket, now: Date): boolean {
  return bucket.expiresAt !== null && bucket.expiresAt <= now;
}

/** The amount of a unit that is neither on hold nor expired. */
export function sumAvailable(draft: Draft, accountId: AccountId, unit: Unit): bigint {
  let total = 0n;
  for (const id of draft.listBucketIds(accountId)) total += getAvailable(draft, draft.findBucket(id), unit);
  return total;
}

function getAvailable({ now }: Draft, bucket: Bucket | undefined, unit: Unit): bigint {
  return bucket === undefined || bucket.unit !== unit || isExpired(bucket, now) ? 0n : bucket.posted - bucket.held;
}

/**
 * Puts an amount on hold, bucket by bucket in spend order. The caller has checked that the balance covers it and `reserved`
 * beside it. A hold that uses up a bucket is valid only for the exact version.
 */
export function placeOnHold(
  draft: Draft,
  accountId: AccountId,
  { unit, amount, reserved }: { unit: Unit; amount: bigint; reserved: bigint },
): HoldLine[] {
  let lines: HoldLine[] = [];
  let left = amount;
  // The balance of the other buckets counts towards the reserve, so this bucket must leave only the rest of it.
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

/** Nearly all holds have one line: an array literal of one element takes less memory than one grown by `push`. */
export function addLine(lines: HoldLine[], line: HoldLine): HoldLine[] {
  return lines.length === 0 ? [line] : [...lines, line];
}

type Movement = Pick<Posting, "id" | "leg" | "kind" | "refundOf" | "fingerprint"> & { cause: Cause };

/** Adds to a bucket, from a system account. */
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

/** Takes from a bucket into a system account, and lowers its hold by `unheld`. */
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

/** `bucket` is the state after the posting. */
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
