import type { Clock } from "../../../lib/clock.ts";
import { readIdTime } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";
import { dropMonths, findMonthStart } from "../../../platform/database/month-store.ts";
import { deleteTasksBefore, erasePromptsBefore, findOldestOpen } from "./retention-store.ts";

const dayMs = 24 * 60 * 60 * 1000;
const atOnceMax = 1000;
/** Bounds the load of one run; the next run continues. */
const portionsMax = 100;

/** How many days tasks and their requests are kept after creation; 0 keeps them forever. */
export type TaskRetention = { taskDays: number; promptDays: number };

/**
 * Erases old requests and deletes old tasks, by dropping whole months where possible. Keeps open tasks and everything
 * newer, because a composite task may still read its children. Charges, orders and files do not depend on deleted tasks.
 */
export async function forgetOldTasks({
  database,
  clock,
  taskDays,
  promptDays,
  signal,
}: TaskRetention & { database: Database; clock: Clock; signal: AbortSignal }): Promise<void> {
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
  // Rows before the first partition, or in a month with an open task.
  const before = findMonthStart(keptFrom);
  await repeat(signal, () => deleteTasksBefore(database, before, atOnceMax));
}

async function repeat(signal: AbortSignal, work: () => Promise<number>): Promise<void> {
  for (let portion = 0; portion < portionsMax && !signal.aborted; portion += 1) {
    if ((await work()) < atOnceMax) return;
  }
}
