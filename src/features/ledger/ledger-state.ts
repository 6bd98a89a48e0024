import type { AccountId, BucketId, HoldId, TransactionId } from "../../lib/ids.ts";
import type { QuotaKind } from "../../lib/plan-terms.ts";

/** Billionths of the currency, or the tokens, images and seconds of a quota. */
export type Unit = "money" | QuotaKind;

/** Below 2^63, the maximum of a `bigint` column. */
export const amountMax = 9_000_000_000_000_000_000n;
/** Quotas are JSON numbers, so they stay below 2^53. */
export const quotaMax = 9_000_000_000_000_000n;

/** A credit bucket: cash, one gift, or one quota of a plan period. */
export type Bucket = {
  id: BucketId;
  accountId: AccountId;
  kind: "cash" | "gift" | "quota";
  unit: Unit;
  expiresAt: Date | null;
  posted: bigint;
  held: bigint;
  entryCount: bigint;
  isOpen: boolean;
  openedAt: Date;
};

export type HoldState = "open" | "settled" | "released" | "expired" | "refused";
export type RefusalReason = "insufficient-balance" | "key-budget-exceeded" | "account-frozen";

/** What caused a posting. Statement entries link to it. */
export type Cause = { kind: CauseKind; id: string };
type CauseKind =
  | "request"
  | "task"
  | "operator"
  | "code"
  | "payment"
  | "payment_refund"
  | "payment_dispute"
  | "plan"
  | "sweep";

export type HoldLine = { bucketId: BucketId; amount: bigint };

export type Hold = {
  id: HoldId;
  accountId: AccountId;
  unit: Unit;
  amount: bigint;
  lines: readonly HoldLine[];
  state: HoldState;
  settled: bigint;
  refusal: { reason: RefusalReason; missing: bigint } | null;
  fingerprint: string;
  settlementFingerprint: string | null;
  keyId: string | null;
  /** The first key of the lineage, under which the budget is counted, and the budget's period. */
  budget: { keyId: string; startsAt: Date } | null;
  cause: Cause;
  expiresAt: Date;
  openedAt: Date;
  resolvedAt: Date | null;
};

/** The spent and held amounts of a key's budget in one period. */
export type KeySpending = { keyId: string; startsAt: Date; accountId: AccountId; held: bigint; spent: bigint };

type SystemAccount = "revenue" | "loss" | "expired" | "adjustments" | `funding:${string}`;

export type PostingKind = "charge" | "loss" | "refund" | "top_up" | "grant" | "adjustment" | "reversal" | "expiry";

/** A committed transaction, as needed to replay its result or refund it. */
export type KnownTransaction = {
  fingerprint: string;
  accountId: AccountId;
  kind: PostingKind;
  unit: Unit;
  legs: readonly HoldLine[];
  refunded: bigint;
};

export type Wallet = {
  /** Incremented by every write. */
  version: bigint;
  /** Incremented by writes that change more than amounts. */
  shape: bigint;
  isFrozen: boolean;
  /** `null` if there is none or its lease has expired. */
  reserve: Reserve | null;
};

/**
 * Money that one process's early calls may count on before their holds are written. Other writers leave it untouched. It is
 * a lease by the database's clock, renewed by its owner. A revoked reserve is not renewed: it covers the calls that have
 * started until they have their holds or the lease expires.
 */
export type Reserve = { amount: bigint; owner: string; isRevoked: boolean };

/** The part of the ledger that a batch needs. */
export type LedgerState = {
  wallets: ReadonlyMap<AccountId, Wallet>;
  buckets: ReadonlyMap<BucketId, Bucket>;
  /** The open buckets of each account. */
  bucketIds: ReadonlyMap<AccountId, ReadonlySet<BucketId>>;
  holds: ReadonlyMap<HoldId, Hold>;
  transactions: ReadonlyMap<TransactionId, KnownTransaction>;
  /** By `nameSpending`. */
  spending: ReadonlyMap<string, KeySpending>;
};

export function nameSpending({ keyId, startsAt }: { keyId: string; startsAt: Date }): string {
  return `${keyId} ${startsAt.getTime()}`;
}

/** A double entry: debit and credit in one row. A bucket is a liability to the customer, so a credit raises it. */
export type Posting = {
  id: TransactionId;
  leg: number;
  accountId: AccountId;
  kind: PostingKind;
  unit: Unit;
  debit: BucketId | SystemAccount;
  credit: BucketId | SystemAccount;
  amount: bigint;
  /** The bucket's entry with its number and the balance after it; `null` for a loss. */
  entry: { bucketId: BucketId; number: bigint; balanceAfter: bigint } | null;
  refundOf: TransactionId | null;
  fingerprint: string;
  cause: Cause;
  createdAt: Date;
};

/** Derived from the hold, so a second settlement has the same id as the first. */
export function deriveTransactionId(holdId: HoldId): TransactionId {
  return `txn_${holdId.slice("hold_".length)}`;
}
