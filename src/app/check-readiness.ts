import { setTimeout as wait } from "node:timers/promises";
import type { Ledger } from "../features/ledger/index.ts";
import { type Database, pingDatabase } from "../platform/database/database.ts";
import { databaseLimits } from "../platform/database/database-limits.ts";
import { AppError } from "../platform/errors/app-error.ts";

type ReadinessDependencies = { database: Database; ledger: Pick<Ledger, "check"> };

/**
 * Throws if paid calls would fail: the ledger or the pool has no working database connection. Returns quickly even if the
 * database hangs. A busy pool alone is not a failure.
 */
export async function checkReadiness({ database, ledger }: ReadinessDependencies): Promise<void> {
  await Promise.all([
    Promise.race([ledger.check(), refuseLate()]),
    Promise.race([pingDatabase(database), waitItsTime()]),
  ]);
}

async function refuseLate(): Promise<never> {
  await waitItsTime();
  throw new AppError("overloaded", "The database is unavailable. Retry after Retry-After.");
}

function waitItsTime(): Promise<void> {
  return wait(databaseLimits.readyMsMax, undefined, { ref: false });
}
