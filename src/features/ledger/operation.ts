import type { Bill } from "../../lib/bill.ts";
import type { KeyBudget } from "../../lib/budget.ts";
import type { AccountId, BucketId, HoldId, TransactionId } from "../../lib/ids.ts";
import type { Nano } from "../../lib/money.ts";
import type { QuotaKind } from "../../lib/plan-terms.ts";
import type { Cause, HoldState, RefusalReason, Unit } from "./ledger-state.ts";

/** Puts money on hold before work begins. The caller creates the id, so a retry is idempotent. */
export type HoldOperation = {
  kind: "hold";
  id: HoldId;
  accountId: AccountId;
  amount: Nano;
  /** The same work in units of a quota, which pays instead if it covers all of it. */
  quota: { kind: QuotaKind; units: bigint } | null;
  /** The caller's key, for usage by key. */
  keyId?: string;
  /** The key's budget: the hold must fit into the rest of its period. */
  budget: KeyBudget | null;
  cause: Cause;
  expiresAt: Date;
  /** For an early call: its part of the reserve. */
  early?: Nano;
};

/** Raises a hold to a total amount; idempotent, because it is not a difference. */
export type ExtendOperation = {
  kind: "extend";
  accountId: AccountId;
  holdId: HoldId;
  amount: Nano;
  quotaUnits: bigint;
  /** The key's budget in the hold's period. */
  budgetAmount: Nano | null;
  /** A later expiry, for work that takes longer. */
  expiresAt: Date | null;
};

/** Charges the bill and releases the rest of the hold. */
export type SettleOperation = {
  kind: "settle";
  accountId: AccountId;
  holdId: HoldId;
  bill: Bill;
  /**
   * If the bill exceeds the hold: `refuse` changes nothing, `take-available` charges more of the balance, `charge-hold`
   * charges the hold. The uncharged rest is booked as a loss.
   */
  overrun: "refuse" | "take-available" | "charge-hold";
  /** The key's budget in the hold's period. */
  budgetAmount: Nano | null;
};

export type ReleaseOperation = { kind: "release"; accountId: AccountId; holdId: HoldId };

/** Releases a hold after its expiry. */
export type ExpireHoldOperation = { kind: "expire-hold"; accountId: AccountId; holdId: HoldId };

export type TopUpOperation = {
  kind: "top-up";
  id: TransactionId;
  accountId: AccountId;
  amount: Nano;
  /** The payment channel. */
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

/** Corrects cash by a positive or negative amount. */
export type AdjustOperation = {
  kind: "adjust";
  id: TransactionId;
  accountId: AccountId;
  amount: Nano;
  /** The payment channel, if this reverses a payment or undoes such a reversal. */
  reverses?: string;
  cause: Cause;
};

/** Refunds a charge or a part of it to the buckets that paid it. */
export type RefundOperation = {
  kind: "refund";
  id: TransactionId;
  accountId: AccountId;
  chargeId: TransactionId;
  amount: bigint;
  cause: Cause;
};

/** Takes the rest of a gift or quota: at its expiry (`due`) or at once (`now`). */
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

/** Final: a refused hold stays refused, and a retry with its id gets the same result. */
type Refused = { kind: "refused"; reason: RefusalReason; missing: bigint; isReplay: boolean };
type NotOpen = { kind: "no-such-hold" } | { kind: "already-resolved"; state: Exclude<HoldState, "open"> };
type IdReused = { kind: "id-reused" };
type NoSuchAccount = { kind: "no-such-account" };
type TooLarge = { kind: "too-large" };
/** The balance suffices, but is reserved for early calls. Nothing was written; retry in a moment. */
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

export type ResultOf<O extends Operation> = Results[O["kind"]] | NoSuchAccount;
export type Result = ResultOf<Operation>;
