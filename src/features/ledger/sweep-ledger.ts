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
  /** Called for each operation that failed; the sweep continues. */
  onTrouble(about: Pick<Operation, "accountId"> & { kind: string }, error: unknown): void;
};

const atOnceMax = 200;
/** Refused holds are kept for retries, which come within seconds. */
const refusalsKeptMs = 24 * 60 * 60 * 1000;
const refusalsAtOnceMax = 1000;

/**
 * Releases expired holds, takes the rest of expired gifts and quotas, collects debts from new cash, and deletes old refused
 * holds.
 */
export async function sweepLedger(dependencies: SweepDependencies): Promise<{ swept: number }> {
  const holds = await sweep(dependencies, listDueHolds);
  // After the holds, because they may have released credit into an expired gift.
  const buckets = await sweep(dependencies, listDueBuckets);
  const debtors = await collectDueDebts(dependencies);
  await forgetRefusals(dependencies);
  return { swept: holds + buckets + debtors };
}

async function forgetRefusals({ database, clock }: SweepDependencies): Promise<void> {
  const before = new Date(clock.now().getTime() - refusalsKeptMs);
  while (await deleteRefusals(database, { before, limit: refusalsAtOnceMax }));
}

/** Cash that an ended call's hold released pays the account's debt. */
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

/** In batches, so no wallet is locked for long. */
async function sweep(dependencies: SweepDependencies, listDue: ListDue): Promise<number> {
  let swept = 0;
  // Failed operations stay due and come first in every list, so skip them.
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

/** Applies a batch, or one by one if it fails, so one bad account does not block the others. Returns the failures. */
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
