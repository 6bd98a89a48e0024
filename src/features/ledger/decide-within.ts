import type { Database } from "../../platform/database/database.ts";
import { type EndedClaim, endClaims } from "../idempotency/index.ts";
import { applyBatch } from "./apply-batch.ts";
import type { Changes } from "./draft.ts";
import type { LedgerState } from "./ledger-state.ts";
import { loadState, lockWallets, runWithin, writeChanges } from "./ledger-store.ts";
import { listNeeds } from "./list-needs.ts";
import type { Operation, Result } from "./operation.ts";

/** Told where a commit has got to. Tests let it crash there. */
export type ReachPoint = (point: CommitPoint) => void;
export const commitPoints = ["taken", "loaded", "decided", "locked", "written", "committed", "answered"] as const;
export type CommitPoint = (typeof commitPoints)[number];

type Decision = {
  now: Date;
  /** The calls that have begun, of a process that has such. */
  early?: Parameters<typeof applyBatch>[3];
  reach?: ReachPoint;
  /** What becomes of claims by these results. The caller has locked them. */
  listEndedClaims?(results: readonly Result[]): EndedClaim[];
};

/**
 * Decides operations inside a caller's transaction, under the locks of their wallets. The wallets come first and in
 * order; whatever else the caller locks, it locks before, and everybody in the same order.
 */
export async function decideWithin(
  tx: Database,
  operations: readonly Operation[],
  { now, early, reach = () => {}, listEndedClaims = () => [] }: Decision,
): Promise<{ results: Result[]; changes: Changes; state: LedgerState }> {
  const needs = listNeeds(operations, now);
  const run = runWithin(tx);
  await lockWallets(tx, needs.accountIds);
  reach("locked");
  const state = await loadState(run, needs);
  const { results, changes } = applyBatch(state, operations, now, early);
  const endedClaims = listEndedClaims(results);
  if (changes.accountIds.size > 0) {
    await writeChanges(run, changes, { state, endedClaims });
    reach("written");
  } else if (endedClaims.length > 0) {
    await endClaims(tx, endedClaims);
  }
  return { results, changes, state };
}
