import { sql } from "kysely";
import type { AccountId } from "../../src/lib/ids.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { waitUntil } from "./wait-until.ts";

export type LockedWallet = AsyncDisposable & {
  /** Resolves when somebody waits for the wallet. */
  awaited(): Promise<void>;
  /** Lets go, after doing what is given in the same transaction, ahead of everybody who waits. */
  free(lastly?: (tx: Database) => Promise<unknown>): Promise<void>;
};

/** Keeps everybody from an account's wallet, as a slow commit would, until the test lets it go. */
export async function lockWallet(database: Database, accountId: AccountId): Promise<LockedWallet> {
  const locked = Promise.withResolvers<void>();
  const freed = Promise.withResolvers<(tx: Database) => Promise<unknown>>();
  const work = database.transaction().execute(async (tx) => {
    await sql`select 1 from wallets where account_id = ${accountId} for update`.execute(tx);
    locked.resolve();
    const lastly = await freed.promise;
    await lastly(tx);
  });
  const free: LockedWallet["free"] = async (lastly = async () => {}) => {
    freed.resolve(lastly);
    await work;
  };
  await Promise.race([locked.promise, work]);
  return {
    async awaited() {
      await waitUntil("somebody who waits for the wallet", async () => {
        const { rows } = await sql`
          select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
          database,
        );
        return rows.length > 0;
      });
    },
    free,
    [Symbol.asyncDispose]: () => free(),
  };
}
