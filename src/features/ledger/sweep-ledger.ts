import type { Clock } from "../../lib/clock.ts";
import { type Database, isDatabaseUnavailable } from "../../platform/database/database.ts";
import { collectDebts } from "./claw-back.ts";
import { listPayableDebtors } from "./clawback-store.ts";
import { decideWithin } from "./decide-within.ts";
import type { Operation } from "./operation.ts";
import { deleteRefusals, listDueBuckets, listDueHolds } from "./sweep-store.ts";

type SweepDependencies = {
  database: Database;
  clock: Clock;
  /** Told of what could not be ended; everything else is. */
  onTrouble(about: Pick<Operation, "accountId"> & { kind: string }, error: unknown): void;
};

const atOnceMax = 200;
/** A hold that was refused is asked for again within seconds, if at all. */
const refusalsKeptMs = 24 * 60 * 60 * 1000;
const refusalsAtOnceMax = 1000;

/**
 * Gives back what nobody settled in time, takes what is left of gifts and quotas whose time is over, collects what is
 * owed where there is cash again, and forgets what was refused long ago.
 */
export async function sweepLedger(dependencies: SweepDependencies): Promise<{ swept: number }> {
  const holds = await sweep(dependencies, listDueHolds);
  // What a hold gave back to a gift that is over goes with it.
  const buckets = await sweep(dependencies, listDueBuckets);
  const debtors = await collectDueDebts(dependencies);
  await forgetRefusals(dependencies);
  return { swept: holds + buckets + debtors };
}

async function forgetRefusals({ database, clock }: SweepDependencies): Promise<void> {
  const before = new Date(clock.now().getTime() - refusalsKeptMs);
  while (await deleteRefusals(database, { before, limit: refusalsAtOnceMax }));
}

/** What a call that has ended left of its hold pays what the account owes. */
async function collectDueDebts(dependencies: SweepDependencies): Promise<number> {
  const accountIds = await listPayableDebtors(dependencies.database, atOnceMax);
  for (const accountId of accountIds) {
    try {
      await dependencies.database.transaction().execute((tx) => collectDebts(tx, accountId, dependencies.clock.now()));
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      dependencies.onTrouble({ kind: "collect-debts", accountId }, error);
    }
  }
  return accountIds.length;
}

type ListDue = (database: Database, due: { now: Date; limit: number; skip: number }) => Promise<Operation[]>;

/** In portions, so that no wallet is locked for long. */
async function sweep(dependencies: SweepDependencies, listDue: ListDue): Promise<number> {
  let swept = 0;
  // What failed stays due and comes first in every list.
  let failed = 0;
  for (;;) {
    const now = dependencies.clock.now();
    const operations = await listDue(dependencies.database, { now, limit: atOnceMax, skip: failed });
    const failures = operations.length === 0 ? 0 : await applyPortion(dependencies, operations, now);
    failed += failures;
    swept += operations.length - failures;
    if (operations.length < atOnceMax) return swept;
  }
}

/** All together, or else one by one, so that one account's trouble is not another's. Returns how many failed. */
async function applyPortion(
  dependencies: SweepDependencies,
  operations: readonly Operation[],
  now: Date,
): Promise<number> {
  try {
    await dependencies.database.transaction().execute((tx) => decideWithin(tx, operations, { now }));
    return 0;
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
    const [first] = operations;
    if (first !== undefined && operations.length === 1) {
      dependencies.onTrouble(first, error);
      return 1;
    }
  }
  let failures = 0;
  for (const operation of operations) failures += await applyPortion(dependencies, [operation], now);
  return failures;
}
