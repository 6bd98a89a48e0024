import type { Clock } from "../../../lib/clock.ts";
import { readIdTime } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";
import { dropMonths, findMonthStart } from "../../../platform/database/month-store.ts";
import { deleteTasksBefore, erasePromptsBefore, findOldestOpen } from "./retention-store.ts";

const dayMs = 24 * 60 * 60 * 1000;
const atOnceMax = 1000;
/** One run ends after so many portions, and the next goes on: the database is there for others, too. */
const portionsMax = 100;

/** For how many days after they were made tasks and what they were asked for are kept; 0 is for ever. */
export type TaskRetention = { taskDays: number; promptDays: number };

type ForgetDependencies = TaskRetention & { database: Database; clock: Clock; signal: AbortSignal };

/**
 * Erases what old tasks were asked for, and takes old tasks away, with their months. Those that are open stay, and all that
 * is not older: a composite task may still ask for its parts. Charges, orders and files know how to go on without them.
 */
export async function forgetOldTasks({
  database,
  clock,
  taskDays,
  promptDays,
  signal,
}: ForgetDependencies): Promise<void> {
  const now = clock.now();
  if (taskDays > 0) await dropOldTasks(database, { keptFrom: findKeptFrom(now, taskDays), signal });
  if (promptDays > 0) {
    const before = findKeptFrom(now, promptDays);
    await repeat(signal, () => erasePromptsBefore(database, { before, now, countMax: atOnceMax }));
  }
}

function findKeptFrom(now: Date, days: number): Date {
  return new Date(now.getTime() - days * dayMs);
}

async function dropOldTasks(
  database: Database,
  { keptFrom, signal }: { keptFrom: Date; signal: AbortSignal },
): Promise<void> {
  const oldest = await findOldestOpen(database);
  const openFrom = (oldest === null ? null : readIdTime(oldest)) ?? keptFrom;
  await dropMonths(database, ["tasks"], openFrom < keptFrom ? openFrom : keptFrom);
  // What lies before the first month, or in one that a task is still open in.
  const before = findMonthStart(keptFrom);
  await repeat(signal, () => deleteTasksBefore(database, before, atOnceMax));
}

async function repeat(signal: AbortSignal, work: () => Promise<number>): Promise<void> {
  for (let portion = 0; portion < portionsMax && !signal.aborted; portion += 1) {
    if ((await work()) < atOnceMax) return;
  }
}
