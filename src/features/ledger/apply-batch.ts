import { applyAdjust, applyExpireBucket, applyGrant, applyRefund, applyTopUp } from "./apply-credit-operations.ts";
import { applyExpireHold, applyExtend, applyHold, applyRelease, applySettle } from "./apply-hold-operations.ts";
import { type Changes, createDraft, type Draft, type EarlyCalls } from "./draft.ts";
import type { LedgerState } from "./ledger-state.ts";
import type { Operation, Result } from "./operation.ts";

/**
 * The reducer: decides a batch of operations in order, each on the result of those before it. Pure: it reads the state and
 * returns the changes. Every write path uses it, and tests compare it with an independent model.
 */
export function applyBatch(
  state: LedgerState,
  operations: readonly Operation[],
  now: Date,
  early?: EarlyCalls & { decideReserves(draft: Draft): void },
): { results: Result[]; changes: Changes } {
  const draft = createDraft(state, now, early);
  const results = operations.map((operation) => {
    const result = applyOperation(draft, operation);
    if (!isPlain(result)) draft.requireExact(operation.accountId);
    return result;
  });
  early?.decideReserves(draft);
  return { results, changes: draft.changes };
}

/** Whether the result stays right if another process moved amounts first, as long as enough is left. */
function isPlain(result: Result): boolean {
  switch (result.kind) {
    case "held":
    case "released":
      return !result.isReplay;
    case "settled":
      return !result.isReplay && result.lost === 0n;
    case "extended":
      return true;
    default:
      return false;
  }
}

function applyOperation(draft: Draft, operation: Operation): Result {
  if (draft.findWallet(operation.accountId) === undefined) return { kind: "no-such-account" };
  switch (operation.kind) {
    case "hold":
      return applyHold(draft, operation);
    case "extend":
      return applyExtend(draft, operation);
    case "settle":
      return applySettle(draft, operation);
    case "release":
      return applyRelease(draft, operation);
    case "expire-hold":
      return applyExpireHold(draft, operation);
    case "top-up":
      return applyTopUp(draft, operation);
    case "grant":
      return applyGrant(draft, operation);
    case "adjust":
      return applyAdjust(draft, operation);
    case "refund":
      return applyRefund(draft, operation);
    case "expire-bucket":
      return applyExpireBucket(draft, operation);
  }
}
