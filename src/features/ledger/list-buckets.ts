import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { comparePockets, isExpired } from "./draft.ts";
import type { Pocket } from "./ledger-state.ts";
import { loadState, runWithin } from "./ledger-store.ts";

/**
 * What an account's balance is made of, in the order in which it is spent. What has expired counts as the balance counts
 * it: only as far as work still holds it.
 */
export async function listBuckets(database: Database, accountId: AccountId, now: Date): Promise<Pocket[]> {
  const nothing = { pocketIds: [], holdIds: [], transactionIds: [], spending: [] };
  const { pockets } = await loadState(runWithin(database), { ...nothing, accountIds: [accountId] });
  return [...pockets.values()]
    .map((pocket) => (isExpired(pocket, now) ? { ...pocket, posted: pocket.held } : pocket))
    .filter(({ posted }) => posted > 0n)
    .toSorted(comparePockets);
}
