import type { AccountId, BucketId, HoldId, TransactionId } from "../../lib/ids.ts";
import type { QuotaKind } from "../../lib/plan-terms.ts";

/** What is counted: billionths of the currency, or the tokens, images and seconds of a quota. */
export type Unit = "money" | QuotaKind;

/** Enough for any balance, and so far inside 64 bits that no single step can leave them. */
export const amountMax = 9_000_000_000_000_000_000n;
/** Quotas are numbers on the wire, and stay exact in every reader's floating point. */
export const quotaMax = 9_000_000_000_000_000n;

/** Where a part of an account's money or quota is. Each gift and each plan period has buckets of its own. */
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

/** What made a movement of money: the thing that an entry of a statement links to. */
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
  /** The key that its budget is counted by, the first of its line, and the budget's period. */
  budget: { keyId: string; startsAt: Date } | null;
  cause: Cause;
  expiresAt: Date;
  openedAt: Date;
  resolvedAt: Date | null;
};

/** What a key with a budget has spent and put on hold in one period. */
export type KeySpending = { keyId: string; startsAt: Date; accountId: AccountId; held: bigint; spent: bigint };

type SystemAccount = "revenue" | "loss" | "expired" | "adjustments" | `funding:${string}`;

export type PostingKind = "charge" | "loss" | "refund" | "top_up" | "grant" | "adjustment" | "reversal" | "expiry";

/** A movement that is already written: enough of it to answer the same request again, and to refund it. */
export type KnownTransaction = {
  fingerprint: string;
  accountId: AccountId;
  kind: PostingKind;
  unit: Unit;
  legs: readonly HoldLine[];
  refunded: bigint;
};

export type Wallet = {
  /** Counts all writes. */
  version: bigint;
  /** The same after every write that changed amounts and nothing else. */
  shape: bigint;
  isFrozen: boolean;
  /** `null` where none is in force. */
  reserve: Reserve | null;
};

/**
 * Money that one process's calls may count on before their holds are written. Every other writer leaves so much of the
 * balance. It is a lease: its owner renews it, and it lapses by the database's clock. Once revoked it is not renewed: it stands
 * for the calls that have begun, until they have their holds or it lapses.
 */
export type Reserve = { amount: bigint; owner: string; isRevoked: boolean };

/** As much of the ledger as a batch of operations asks about. */
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

/** A movement, both sides in one. A bucket is what the customer is owed, so a credit raises it. */
export type Posting = {
  id: TransactionId;
  leg: number;
  accountId: AccountId;
  kind: PostingKind;
  unit: Unit;
  debit: BucketId | SystemAccount;
  credit: BucketId | SystemAccount;
  amount: bigint;
  /** The customer's side, its entry number and its balance afterwards; a loss has none. */
  entry: { bucketId: BucketId; number: bigint; balanceAfter: bigint } | null;
  refundOf: TransactionId | null;
  fingerprint: string;
  cause: Cause;
  createdAt: Date;
};

/** The id of what ends a hold: derived, so that whoever ends it a second time meets the first. */
export function deriveTransactionId(holdId: HoldId): TransactionId {
  return `txn_${holdId.slice("hold_".length)}`;
}
