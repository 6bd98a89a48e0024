import { setTimeout as wait } from "node:timers/promises";
import type { Ledger } from "../features/ledger/index.ts";
import { type Database, pingDatabase } from "../platform/database/database.ts";
import { databaseLimits } from "../platform/database/database-limits.ts";
import { AppError } from "../platform/errors/app-error.ts";

type ReadinessDependencies = { database: Database; ledger: Pick<Ledger, "check"> };

/**
 * Throws where paid calls would be refused: payments cannot be recorded, or nothing else can be read and written. Answers
 * soon, whatever the database does. That all connections of the pool are in use for a while is no reason: they are used.
 */
export async function checkReadiness({ database, ledger }: ReadinessDependencies): Promise<void> {
  await Promise.all([
    Promise.race([ledger.check(), refuseLate()]),
    Promise.race([pingDatabase(database), waitItsTime()]),
  ]);
}

async function refuseLate(): Promise<never> {
  await waitItsTime();
  throw new AppError("overloaded", "The database does not answer.");
}

function waitItsTime(): Promise<void> {
  return wait(databaseLimits.readyMsMax, undefined, { ref: false });
}
