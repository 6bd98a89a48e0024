import type { TransactionId } from "../../lib/ids.ts";
import { deriveTransactionId } from "./ledger-state.ts";
import type { HoldOperation, Operation, RefundOperation, ResultOf, SettleOperation } from "./operation.ts";

/** A hold and its settlement of which nobody knows whether they were written. */
export type DoubtfulCharge = {
  hold: HoldOperation;
  settlement: SettleOperation;
  /** The refund's id, should there be one. */
  refundId: TransactionId;
};

type Apply = <O extends Operation>(operation: O) => Promise<ResultOf<O>>;

/**
 * Sees to it that a call is not paid for, whatever was written of it: the hold is released, or what was charged is
 * refunded. May be sent again.
 */
export async function withdrawCharge(
  apply: Apply,
  { hold, settlement, refundId }: DoubtfulCharge,
): Promise<"uncharged" | "refunded"> {
  // Sent again first, so that a write which is still on its way finds its id taken.
  const { early: _, ...again } = hold;
  const held = await apply(again);
  if (held.kind === "id-reused") throw new Error(`the hold ${hold.id} is another one's`);
  if (held.kind !== "held") return "uncharged";
  const { accountId } = hold;
  const released = await apply({ kind: "release", accountId, holdId: hold.id });
  if (released.kind !== "already-resolved" || released.state !== "settled") return "uncharged";
  const settled = await apply(settlement);
  if (settled.kind !== "settled") throw new Error(`the settled hold ${hold.id} was answered with ${settled.kind}`);
  if (settled.paid === 0n) return "uncharged";
  const refund: RefundOperation = {
    ...{ kind: "refund", id: refundId, accountId, chargeId: deriveTransactionId(hold.id) },
    ...{ amount: settled.paid, cause: hold.cause },
  };
  const refunded = await apply(refund);
  if (refunded.kind !== "booked") throw new Error(`the charge of ${hold.id} was not refunded: ${refunded.kind}`);
  return "refunded";
}
