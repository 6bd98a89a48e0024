import { sql } from "kysely";
import type { Database } from "../../src/platform/database/database.ts";
import { waitUntil } from "./wait-until.ts";

export type HeldLock = AsyncDisposable & {
  /** Resolves when this many transactions wait for a lock. */
  awaited(waiterCount?: number): Promise<void>;
  /** Commits, after running the given function in the same transaction, ahead of all waiters. */
  free(lastly?: (tx: Database) => Promise<unknown>): Promise<void>;
};

/** Holds the locks of `take`, as a slow commit would, until the test frees them. */
export async function holdLock(database: Database, take: (tx: Database) => Promise<unknown>): Promise<HeldLock> {
  const locked = Promise.withResolvers<void>();
  const freed = Promise.withResolvers<(tx: Database) => Promise<unknown>>();
  const work = database.transaction().execute(async (tx) => {
    await take(tx);
    locked.resolve();
    const lastly = await freed.promise;
    await lastly(tx);
  });
  const free: HeldLock["free"] = async (lastly = async () => {}) => {
    freed.resolve(lastly);
    await work;
  };
  await Promise.race([locked.promise, work]);
  return {
    async awaited(waiterCount = 1) {
      await waitUntil(`${waiterCount} who wait for the lock`, async () => {
        const { rows } = await sql`
          select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
          database,
        );
        return rows.length >= waiterCount;
      });
    },
    free,
    [Symbol.asyncDispose]: () => free(),
  };
}
