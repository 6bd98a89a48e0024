import type { Database } from "../../platform/database/database.ts";
import { type EndedClaim, endClaims } from "../idempotency/index.ts";
import { applyBatch } from "./apply-batch.ts";
import type { Changes } from "./draft.ts";
import type { LedgerState } from "./ledger-state.ts";
import { loadState, lockWallets, runWithin, writeChanges } from "./ledger-store.ts";
import { listNeeds } from "./list-needs.ts";
import type { Operation, Result } from "./operation.ts";

/** Called at each step of a commit, so tests can crash there. */
export type Failpoint = (point: CommitPoint) => void;
export const commitPoints = ["taken", "loaded", "decided", "locked", "written", "committed", "answered"] as const;
export type CommitPoint = (typeof commitPoints)[number];

type Decision = {
  now: Date;
  /** The process's reserves for early calls, if it has any. */
  early?: Parameters<typeof applyBatch>[3];
  failpoint?: Failpoint;
  /** The claims that these results end. The caller has locked them. */
  listEndedClaims?(results: readonly Result[]): EndedClaim[];
};

/**
 * Decides operations in the caller's transaction under the locks of their wallets. Lock order: the caller's own rows first,
 * then wallets by id.
 */
export async function decideWithin(
  tx: Database,
  operations: readonly Operation[],
  { now, early, failpoint = () => {}, listEndedClaims = () => [] }: Decision,
): Promise<{ results: Result[]; changes: Changes; state: LedgerState }> {
  const needs = listNeeds(operations, now);
  const run = runWithin(tx);
  await lockWallets(tx, needs.accountIds);
  failpoint("locked");
  const state = await loadState(run, needs);
  const { results, changes } = applyBatch(state, operations, now, early);
  const endedClaims = listEndedClaims(results);
  if (changes.accountIds.size > 0) {
    await writeChanges(run, changes, { state, endedClaims });
    failpoint("written");
  } else if (endedClaims.length > 0) {
    await endClaims(tx, endedClaims);
  }
  return { results, changes, state };
}
