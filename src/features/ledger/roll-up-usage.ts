import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { findAccountToRollUp, rollUpOlderCharges } from "./roll-up-store.ts";

/** Few enough that nobody waits long for the wallet. */
const chargesAtOnceMax = 20_000;

/**
 * Adds the charges from before there were roll-ups, account by account and backwards in time. Each step is whole by
 * itself: whoever is cut off leaves the rest to the next run, and usage is right at every moment.
 */
export async function rollUpUsage(
  database: Database,
  { signal, chargesMax = chargesAtOnceMax }: { signal?: AbortSignal; chargesMax?: number } = {},
): Promise<void> {
  let accountId: AccountId | null = await findAccountToRollUp(database, null);
  while (accountId !== null) {
    while (await rollUpOlderCharges(database, { accountId, chargesMax })) if (signal?.aborted) return;
    if (signal?.aborted) return;
    accountId = await findAccountToRollUp(database, accountId);
  }
}
