import type { TransactionId } from "../../lib/ids.ts";
import { deriveTransactionId } from "./ledger-state.ts";
import type { HoldOperation, Operation, RefundOperation, ResultOf, SettleOperation } from "./operation.ts";

/** A hold and its settlement that may or may not have been written. */
export type DoubtfulCharge = {
  hold: HoldOperation;
  settlement: SettleOperation;
  /** The id of a refund, if one is needed. */
  refundId: TransactionId;
};

type Apply = <O extends Operation>(operation: O) => Promise<ResultOf<O>>;

/**
 * Makes sure that a call costs nothing, whatever was written of it: releases the hold or refunds the charge. Idempotent.
 */
export async function withdrawCharge(
  apply: Apply,
  { hold, settlement, refundId }: DoubtfulCharge,
): Promise<"uncharged" | "refunded"> {
  // Write the hold first, so a delayed first write finds its id taken.
  const { early: _, ...again } = hold;
  const held = await apply(again);
  if (held.kind === "id-reused") throw new Error(`the hold id ${hold.id} belongs to another request`);
  if (held.kind !== "held") return "uncharged";
  const { accountId } = hold;
  const released = await apply({ kind: "release", accountId, holdId: hold.id });
  if (released.kind !== "already-resolved" || released.state !== "settled") return "uncharged";
  const settled = await apply(settlement);
  if (settled.kind !== "settled") throw new Error(`settling the settled hold ${hold.id} returned ${settled.kind}`);
  if (settled.paid === 0n) return "uncharged";
  const refund: RefundOperation = {
    ...{ kind: "refund", id: refundId, accountId, chargeId: deriveTransactionId(hold.id) },
    ...{ amount: settled.paid, cause: hold.cause },
  };
  const refunded = await apply(refund);
  if (refunded.kind !== "booked") throw new Error(`the charge of ${hold.id} was not refunded: ${refunded.kind}`);
  return "refunded";
}
