import type { Bill } from "../../lib/bill.ts";
import type { KeyBudget } from "../../lib/budget.ts";
import type { AccountId, BucketId, HoldId, TransactionId } from "../../lib/ids.ts";
import type { Nano } from "../../lib/money.ts";
import type { QuotaKind } from "../../lib/plan-terms.ts";
import type { Cause, HoldState, RefusalReason, Unit } from "./ledger-state.ts";

/** Sets money aside before work begins. Its id is made beforehand, so that it can be sent again. */
export type HoldOperation = {
  kind: "hold";
  id: HoldId;
  accountId: AccountId;
  amount: Nano;
  /** The same work in the unit of a quota, which pays instead where the whole of it fits. */
  quota: { kind: QuotaKind; units: bigint } | null;
  /** The key that asks; what is charged is told by key. */
  keyId?: string;
  /** The budget of the key that asks: the hold must fit into what is left of its period. */
  budget: KeyBudget | null;
  cause: Cause;
  expiresAt: Date;
  /** For a call that has begun already: what was counted of the reserve for it. */
  early?: Nano;
};

/** Raises a hold to an amount. It names the whole and not the difference, so that sending it again changes nothing. */
export type ExtendOperation = {
  kind: "extend";
  accountId: AccountId;
  holdId: HoldId;
  amount: Nano;
  quotaUnits: bigint;
  /** The most that the key may spend in the period of the hold. */
  budgetAmount: Nano | null;
  /** A later end, for work that takes longer. */
  expiresAt: Date | null;
};

/** Charges what the work cost and gives the rest of the hold back. */
export type SettleOperation = {
  kind: "settle";
  accountId: AccountId;
  holdId: HoldId;
  bill: Bill;
  /**
   * What happens when the work cost more than was held: nothing is done, what else is there is taken, or the hold is all
   * that is charged. What is not charged is booked as a loss of the house.
   */
  overrun: "refuse" | "take-available" | "charge-hold";
  /** The most that the key may spend in the period of the hold. */
  budgetAmount: Nano | null;
};

export type ReleaseOperation = { kind: "release"; accountId: AccountId; holdId: HoldId };

/** Ends a hold that nobody ended in time. */
export type ExpireHoldOperation = { kind: "expire-hold"; accountId: AccountId; holdId: HoldId };

export type TopUpOperation = {
  kind: "top-up";
  id: TransactionId;
  accountId: AccountId;
  amount: Nano;
  /** Where the money came from. */
  channel: string;
  cause: Cause;
};

/** Money or quota that may expire, in a bucket of its own. */
export type GrantOperation = {
  kind: "grant";
  id: TransactionId;
  accountId: AccountId;
  unit: Unit;
  amount: bigint;
  expiresAt: Date | null;
  channel: string;
  cause: Cause;
};

/** Corrects the cash by an amount that may be negative. */
export type AdjustOperation = {
  kind: "adjust";
  id: TransactionId;
  accountId: AccountId;
  amount: Nano;
  /** The channel that money came by and goes back to, or comes from again: then it is a reversal of funding. */
  reverses?: string;
  cause: Cause;
};

/** Refunds a charge or a part of it, to where it came from. */
export type RefundOperation = {
  kind: "refund";
  id: TransactionId;
  accountId: AccountId;
  chargeId: TransactionId;
  amount: bigint;
  cause: Cause;
};

/** Takes what is left of a gift or quota when its time is over, or at once. */
export type ExpireBucketOperation = {
  kind: "expire-bucket";
  accountId: AccountId;
  bucketId: BucketId;
  when: "due" | "now";
  cause: Cause;
};

export type Operation =
  | HoldOperation
  | ExtendOperation
  | SettleOperation
  | ReleaseOperation
  | ExpireHoldOperation
  | TopUpOperation
  | GrantOperation
  | AdjustOperation
  | RefundOperation
  | ExpireBucketOperation;

/** A refused hold stays refused: the same id is answered the same for ever. */
type Refused = { kind: "refused"; reason: RefusalReason; missing: bigint; isReplay: boolean };
type NotOpen = { kind: "no-such-hold" } | { kind: "already-resolved"; state: Exclude<HoldState, "open"> };
type IdReused = { kind: "id-reused" };
type NoSuchAccount = { kind: "no-such-account" };
type TooLarge = { kind: "too-large" };
/** The money is there, but calls that have begun count on it. Nothing was written: it may be tried again in a moment. */
type Contended = { kind: "contended" };

type Booked = { kind: "booked"; isReplay: boolean };

type Results = {
  hold: { kind: "held"; unit: Unit; amount: bigint; isReplay: boolean } | Refused | Contended | IdReused;
  extend: { kind: "extended"; amount: bigint } | Refused | Contended | NotOpen;
  settle:
    | { kind: "settled"; unit: Unit; paid: bigint; lost: bigint; isReplay: boolean }
    | { kind: "over-hold"; missing: bigint }
    | NotOpen;
  release: { kind: "released"; isReplay: boolean } | NotOpen;
  "expire-hold": { kind: "expired"; isReplay: boolean } | { kind: "not-due" } | NotOpen;
  "top-up": Booked | TooLarge | IdReused;
  grant: Booked | TooLarge | { kind: "already-expired" } | IdReused;
  adjust: Booked | TooLarge | Refused | IdReused;
  refund:
    | Booked
    | TooLarge
    | { kind: "no-such-charge" }
    | { kind: "over-charge"; refundable: bigint }
    | { kind: "id-reused" };
  "expire-bucket": { kind: "expired"; amount: bigint } | { kind: "not-due" } | { kind: "no-such-bucket" };
};

/** What became of an operation. Only those that begin something, or repeat its beginning, change anything. */
export type ResultOf<O extends Operation> = Results[O["kind"]] | NoSuchAccount;
export type Result = ResultOf<Operation>;
