import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { compareBuckets, isExpired } from "./draft.ts";
import type { Bucket } from "./ledger-state.ts";
import { loadState, runWithin } from "./ledger-store.ts";

/**
 * What an account's balance is made of, in the order in which it is spent. What has expired counts as the balance counts
 * it: only as far as work still holds it.
 */
export async function listBuckets(database: Database, accountId: AccountId, now: Date): Promise<Bucket[]> {
  const nothing = { bucketIds: [], holdIds: [], transactionIds: [], spending: [] };
  const { buckets } = await loadState(runWithin(database), { ...nothing, accountIds: [accountId] });
  return [...buckets.values()]
    .map((bucket) => (isExpired(bucket, now) ? { ...bucket, posted: bucket.held } : bucket))
    .filter(({ posted }) => posted > 0n)
    .toSorted(compareBuckets);
}
