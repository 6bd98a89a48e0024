import type { AccountId, BucketId, HoldId, TransactionId } from "../../lib/ids.ts";
import { findBudgetPeriod } from "./apply-hold-operations.ts";
import type { Changes } from "./draft.ts";
import {
  type Bucket,
  type Hold,
  type KeySpending,
  type KnownTransaction,
  type LedgerState,
  nameSpending,
  type Wallet,
} from "./ledger-state.ts";
import { listNeeds, type Needs } from "./list-needs.ts";
import type { Others } from "./loaded-rows.ts";
import type { Operation } from "./operation.ts";

/**
 * A cache of recently used accounts, so deciding needs no read. It may be stale at any time: a write names the wallet
 * versions it was decided on, and fails if they have changed.
 */
export type LedgerCache = {
  state: LedgerState;
  /**
   * What must be loaded to decide these operations; `null` if nothing is missing. Incomplete accounts are loaded whole, so
   * each account's cache is from one snapshot.
   */
  listMissing(operations: readonly Operation[], now: Date): Needs | null;
  /** Adds loaded accounts; caches only their open holds. */
  add(loaded: LedgerState): void;
  /**
   * Adds committed changes, and the amounts that other processes had written before them. A version that has fallen behind
   * stays behind until the account is loaded again.
   */
  keep(changes: Changes, others: Others | null): void;
  forget(accountIds: Iterable<AccountId>): void;
};

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one cache; its functions share its maps.
export function createLedgerCache({ accountsMax }: { accountsMax: number }): LedgerCache {
  const wallets = new Map<AccountId, Wallet>();
  const buckets = new Map<BucketId, Bucket>();
  const bucketIds = new Map<AccountId, Set<BucketId>>();
  const holds = new Map<HoldId, Hold>();
  const holdIds = new Map<AccountId, Set<HoldId>>();
  const spending = new Map<string, KeySpending>();
  const spendingNames = new Map<AccountId, Set<string>>();
  // Never cached: lookups of past transactions are rare and go to the database.
  const transactions = new Map<TransactionId, KnownTransaction>();

  function forgetOne(accountId: AccountId): void {
    wallets.delete(accountId);
    for (const id of bucketIds.get(accountId) ?? []) buckets.delete(id);
    for (const id of holdIds.get(accountId) ?? []) holds.delete(id);
    for (const name of spendingNames.get(accountId) ?? []) spending.delete(name);
    for (const index of [bucketIds, holdIds, spendingNames]) index.delete(accountId);
  }

  function putBucket(bucket: Bucket): void {
    if (bucket.isOpen) {
      buckets.set(bucket.id, bucket);
      getSet(bucketIds, bucket.accountId).add(bucket.id);
    } else {
      buckets.delete(bucket.id);
      bucketIds.get(bucket.accountId)?.delete(bucket.id);
    }
  }

  /** Only repeated requests look up a hold that has ended. */
  function putHold(hold: Hold): void {
    if (hold.state === "open") {
      holds.set(hold.id, hold);
      getSet(holdIds, hold.accountId).add(hold.id);
    } else {
      holds.delete(hold.id);
      holdIds.get(hold.accountId)?.delete(hold.id);
    }
  }

  function putSpending(one: KeySpending): void {
    const name = nameSpending(one);
    spending.set(name, one);
    getSet(spendingNames, one.accountId).add(name);
  }

  function isKnown(operation: Operation, opened: ReadonlySet<HoldId>, now: Date): boolean {
    if (!wallets.has(operation.accountId)) return false;
    if ("holdId" in operation) return holds.has(operation.holdId) || opened.has(operation.holdId);
    const period = operation.kind === "hold" ? findBudgetPeriod(operation, now) : null;
    return period === null || spending.has(nameSpending(period));
  }

  /** Evicts the least recently used accounts. */
  function makeRoom(): void {
    for (const accountId of wallets.keys()) {
      if (wallets.size <= accountsMax) return;
      forgetOne(accountId);
    }
  }

  return {
    state: { wallets, buckets, bucketIds, holds, transactions, spending },
    listMissing(operations, now) {
      const incomplete = new Set<AccountId>();
      // Assume that an opened hold is new; the primary key detects it if not.
      const opened = new Set<HoldId>();
      for (const operation of operations) {
        if (operation.kind === "hold") opened.add(operation.id);
        if (!isKnown(operation, opened, now)) incomplete.add(operation.accountId);
      }
      if (incomplete.size === 0) return null;
      return listNeeds(
        operations.filter(({ accountId }) => incomplete.has(accountId)),
        now,
      );
    },
    add(loaded) {
      for (const [accountId, wallet] of loaded.wallets) {
        if (wallets.get(accountId)?.version !== wallet.version) forgetOne(accountId);
        wallets.set(accountId, wallet);
      }
      // A reused id can load rows of another account: skip them.
      for (const bucket of loaded.buckets.values()) if (loaded.wallets.has(bucket.accountId)) putBucket(bucket);
      for (const hold of loaded.holds.values()) if (loaded.wallets.has(hold.accountId)) putHold(hold);
      for (const one of loaded.spending.values()) if (loaded.wallets.has(one.accountId)) putSpending(one);
      makeRoom();
    },
    keep(changes, others) {
      for (const accountId of changes.accountIds) {
        const wallet = wallets.get(accountId);
        if (wallet === undefined) continue;
        wallets.delete(accountId);
        const shape = changes.exactAccountIds.has(accountId) ? wallet.shape + 1n : wallet.shape;
        const reserve = changes.reserves.get(accountId) ?? wallet.reserve;
        wallets.set(accountId, { ...wallet, version: wallet.version + 1n, shape, reserve });
      }
      for (const bucket of changes.buckets.values()) if (wallets.has(bucket.accountId)) putBucket(bucket);
      for (const hold of changes.holds.values()) if (wallets.has(hold.accountId)) putHold(hold);
      for (const one of changes.spending.values()) if (wallets.has(one.accountId)) putSpending(one);
      if (others === null) return;
      for (const [id, amounts] of others.buckets) {
        const bucket = changes.buckets.get(id);
        if (bucket !== undefined && wallets.has(bucket.accountId)) putBucket({ ...bucket, ...amounts });
      }
      for (const one of others.spending) if (wallets.has(one.accountId)) putSpending(one);
    },
    forget(accountIds) {
      for (const accountId of accountIds) forgetOne(accountId);
    },
  };
}

function getSet<K, V>(sets: Map<K, Set<V>>, key: K): Set<V> {
  const known = sets.get(key);
  if (known !== undefined) return known;
  const created = new Set<V>();
  sets.set(key, created);
  return created;
}
