import { invariant } from "../../lib/invariant.ts";
import type { Database } from "../../platform/database/database.ts";
import { createRowArrays } from "../../platform/database/row-arrays.ts";
import { applyBatch } from "./apply-batch.ts";
import { checkOperation } from "./check-operation.ts";
import type { Changes } from "./draft.ts";
import type { LedgerState } from "./ledger-state.ts";
import { loadState, lockWallets, runWithin, writeChanges } from "./ledger-store.ts";
import { listNeeds } from "./list-needs.ts";
import type {
  HoldOperation,
  Operation,
  ReleaseOperation,
  Result,
  ResultOf,
  SettleOperation,
  TopUpOperation,
} from "./operation.ts";

/** Told where a commit has got to. Tests let it crash there. */
export type ReachPoint = (point: CommitPoint) => void;
export const commitPoints = ["taken", "loaded", "decided", "locked", "written", "committed", "answered"] as const;
export type CommitPoint = (typeof commitPoints)[number];

/**
 * Decides operations inside a caller's transaction, under the locks of their wallets. The wallets come first and in
 * order; whatever else the caller locks, it locks before, and everybody in the same order.
 */
export async function decideWithin(
  tx: Database,
  operations: readonly Operation[],
  { now, reach = () => {} }: { now: Date; reach?: ReachPoint },
): Promise<{ results: Result[]; changes: Changes; state: LedgerState }> {
  const needs = listNeeds(operations, now);
  const run = runWithin(tx);
  await lockWallets(tx, needs.accountIds);
  reach("locked");
  const state = await loadState(run, needs);
  const { results, changes } = applyBatch(state, operations, now);
  if (changes.accountIds.size > 0) {
    const isWritten = await writeChanges(run, changes, { wallets: state.wallets, rows: createRowArrays() });
    invariant(isWritten, "a locked wallet changed");
    reach("written");
  }
  return { results, changes, state };
}

/** One operation in the caller's transaction: it happens if and only if the rest of the transaction does. */
export async function applyWithin<O extends Operation>(tx: Database, operation: O, now: Date): Promise<ResultOf<O>> {
  checkOperation(operation, now);
  const { results } = await decideWithin(tx, [operation], { now });
  return results[0] as ResultOf<O>;
}

type Request<O extends Operation> = Omit<O, "kind">;

export function openHold(tx: Database, request: Request<HoldOperation>, now: Date): Promise<ResultOf<HoldOperation>> {
  return applyWithin(tx, { kind: "hold", ...request }, now);
}

/** Several holds in the caller's transaction, decided together and answered in their order. */
export async function openHolds(
  tx: Database,
  requests: readonly Request<HoldOperation>[],
  now: Date,
): Promise<ResultOf<HoldOperation>[]> {
  const operations = requests.map((request): HoldOperation => ({ kind: "hold", ...request }));
  for (const operation of operations) checkOperation(operation, now);
  const { results } = await decideWithin(tx, operations, { now });
  return results as ResultOf<HoldOperation>[];
}

export function settleHold(
  tx: Database,
  request: Request<SettleOperation>,
  now: Date,
): Promise<ResultOf<SettleOperation>> {
  return applyWithin(tx, { kind: "settle", ...request }, now);
}

export function releaseHold(
  tx: Database,
  request: Request<ReleaseOperation>,
  now: Date,
): Promise<ResultOf<ReleaseOperation>> {
  return applyWithin(tx, { kind: "release", ...request }, now);
}

export function bookTopUp(
  tx: Database,
  request: Request<TopUpOperation>,
  now: Date,
): Promise<ResultOf<TopUpOperation>> {
  return applyWithin(tx, { kind: "top-up", ...request }, now);
}
