import { setTimeout as wait } from "node:timers/promises";
import type { Caller } from "../../lib/caller.ts";
import { invariant } from "../../lib/invariant.ts";
import { type LimitSet, standardLimits } from "../../lib/limit-set.ts";
import { createNetworkMatcher } from "../../lib/network.ts";
import type { ChangeFeed } from "../../platform/database/change-feed.ts";
import { type Database, isDatabaseUnavailable } from "../../platform/database/database.ts";
import type { Account, ApiKey, Plan } from "./account.ts";
import { findAccount } from "./account-store.ts";
import { findApiKeyByHash } from "./api-key-store.ts";
import { hashKey, hashKeyOf, type KeyedConnection } from "./key-text.ts";
import { findPlan } from "./plan-store.ts";

/** A key with everything needed to admit its requests. */
export type KnownKey = {
  caller: Caller;
  isSuspended: boolean;
  expiresAt: Date | null;
  revokedAt: Date | null;
  endpoints: ReadonlySet<string> | null;
  allowsAddress: (address: string) => boolean;
};

export type CallerDirectory = {
  /** From the cache only; `null` on a miss. */
  recall(keyText: string, connection?: KeyedConnection): KnownKey | null;
  find(keyText: string): Promise<KnownKey | null>;
  /** Like `find`, but returns the cached key if the database is slow or unavailable. */
  findOrRecall(keyText: string): Promise<KnownKey | null>;
  /** Whether a recent query did not find the key (negative cache). */
  isUnknown(keyText: string): boolean;
};

const entriesMax = 50_000;
const unknownMax = 10_000;
/** How long `findOrRecall` waits for the database while the change feed is down. */
const recallAfterMs = 500;

/**
 * Caches keys, so a known one costs no query. The cache is used only while the change feed is live; otherwise each call
 * queries the database.
 */
export function createCallerDirectory({ database, feed }: { database: Database; feed: ChangeFeed }): CallerDirectory {
  const entries = new Map<string, KnownKey>();
  // A separate cache: made-up keys must not evict real ones.
  const unknown = new Set<string>();
  // A row that was read before a change must not be cached after it.
  let changeCount = 0;

  function forget(accountId: string): void {
    changeCount += 1;
    unknown.clear();
    if (accountId === "") {
      entries.clear();
      return;
    }
    for (const [hash, known] of entries) if (known.caller.accountId === accountId) entries.delete(hash);
  }

  function rememberUnknown(hash: string): void {
    const [oldest] = unknown;
    if (oldest !== undefined && unknown.size >= unknownMax) unknown.delete(oldest);
    unknown.add(hash);
  }

  function remember(hash: string, known: KnownKey): void {
    const [oldest] = entries.keys();
    if (oldest !== undefined && entries.size >= entriesMax) entries.delete(oldest);
    entries.set(hash, known);
  }

  feed.subscribe("callers", { onChange: forget, onReset: () => forget("") });

  async function find(keyText: string): Promise<KnownKey | null> {
    const hash = hashKey(keyText);
    const changesBefore = changeCount;
    const found = await findKnownKey(database, hash);
    if (!feed.isLive() || changeCount !== changesBefore) return found;
    if (found === null) rememberUnknown(hash);
    else remember(hash, found);
    return found;
  }

  return {
    recall(keyText, connection) {
      if (!feed.isLive()) return null;
      return entries.get(connection === undefined ? hashKey(keyText) : hashKeyOf(connection, keyText)) ?? null;
    },
    find,
    async findOrRecall(keyText) {
      const last = entries.get(hashKey(keyText));
      const finding = find(keyText);
      if (last === undefined) return await finding;
      const recalling = wait(recallAfterMs, last, { ref: false });
      return await Promise.race([
        finding.catch((error) => (isDatabaseUnavailable(error) ? last : Promise.reject(error))),
        recalling,
      ]);
    },
    isUnknown: (keyText) => feed.isLive() && unknown.has(hashKey(keyText)),
  };
}

async function findKnownKey(database: Database, hash: string): Promise<KnownKey | null> {
  const apiKey = await findApiKeyByHash(database, Buffer.from(hash, "hex"));
  return apiKey === null ? null : await loadKnownKey(database, apiKey);
}

export async function loadKnownKey(database: Database, apiKey: ApiKey): Promise<KnownKey> {
  const account = await findAccount(database, apiKey.accountId);
  invariant(account !== null, `the key ${apiKey.id} has no account`);
  const plan = account.planId === null ? null : await findPlan(database, account.planId);
  return describeKey(apiKey, account, plan);
}

function describeKey(apiKey: ApiKey, account: Account, plan: Plan | null): KnownKey {
  const accountLimits: LimitSet = { ...standardLimits, ...plan?.limits, ...account.limits };
  return {
    caller: {
      accountId: account.id,
      keyId: apiKey.id,
      lineageId: apiKey.lineageId,
      planId: account.planId,
      modelIds: apiKey.modelIds === null ? null : new Set(apiKey.modelIds),
      budget: apiKey.budget === null ? null : { ...apiKey.budget, keyId: apiKey.lineageId },
      accountLimits,
      keyLimits: apiKey.limits,
      logsContent: apiKey.logsContent,
      isConsole: apiKey.isConsole,
      spendCappedUntil: account.spendCappedUntil,
    },
    isSuspended: account.suspendedAt !== null,
    expiresAt: apiKey.expiresAt,
    revokedAt: apiKey.revokedAt,
    endpoints: apiKey.endpoints === null ? null : new Set(apiKey.endpoints),
    allowsAddress: apiKey.addresses === null ? () => true : createNetworkMatcher(apiKey.addresses),
  };
}
