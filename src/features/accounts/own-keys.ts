import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import type { LimitSet } from "../../lib/limit-set.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ApiKey, KeyRestrictions } from "./account.ts";
import {
  countLiveKeys,
  findOwnKey,
  lockKeysOf,
  lockOwnKey,
  type OwnKeyName,
  updateApiKeyRow,
} from "./api-key-store.ts";
import { findKeyKind } from "./client-keys.ts";
import { createApiKey, type HasModel, type KeyDependencies, type NewApiKey, writeApiKey } from "./create-api-key.ts";
import { isWidened } from "./key-restrictions.ts";
import { type KeyChangeDependencies, revokeApiKey, updateApiKey } from "./update-api-key.ts";

/** `null` removes a limit; an absent one stays. */
export type OwnKeyChange = {
  name?: string;
  logsContent?: boolean;
  limits?: { [L in keyof LimitSet]?: number | null };
} & Partial<Omit<KeyRestrictions, "limits">>;

const liveKeysMax = 100;

export async function getOwnKey(database: Database, name: OwnKeyName): Promise<ApiKey> {
  return requireKey(await findOwnKey(database, name), name);
}

export async function createOwnKey(
  { database, hasModel, clock, ids, randomBytes }: KeyDependencies & { database: Database; hasModel: HasModel },
  request: { accountId: AccountId; name: string; logsContent?: boolean } & Partial<KeyRestrictions>,
): Promise<NewApiKey> {
  return await inTransaction(database, async (tx) => {
    await requireRoom(tx, request.accountId, clock.now());
    return await createApiKey({ database: tx, hasModel, clock, ids, randomBytes }, request);
  });
}

/** `permitWidening` throws if the caller may not grant the key more access or turn on content logging. */
export async function changeOwnKey(
  { database, permitWidening, clock, hasModel }: KeyChangeDependencies & { permitWidening(): void },
  name: OwnKeyName,
  change: OwnKeyChange,
): Promise<ApiKey> {
  return await inTransaction(database, async (tx) => {
    if (change.budget !== undefined) await lockKeysOf(tx, name.accountId);
    const apiKey = requireUnrevoked(requireKey(await lockOwnKey(tx, name), name));
    const { limits, ...rest } = change;
    const whole = limits === undefined ? rest : { ...rest, limits: mergeLimits(apiKey.limits, limits) };
    const changed = await updateApiKey({ database: tx, clock, hasModel }, apiKey.id, whole);
    if (isWidened(apiKey, changed) || (changed.logsContent && !apiKey.logsContent)) permitWidening();
    return changed;
  });
}

export async function revokeOwnKey(
  { database, clock }: { database: Database; clock: Clock },
  name: OwnKeyName,
): Promise<ApiKey> {
  return await inTransaction(database, async (tx) => {
    const { id } = requireKey(await lockOwnKey(tx, name), name);
    return await revokeApiKey({ database: tx, clock }, id);
  });
}

/**
 * Replaces a key by one with the same name, restrictions and lineage, so the spent budget carries over. The old key ends
 * at once, or after `overlapMs` to give its clients time to switch.
 */
export async function rotateOwnKey(
  { database, clock, ids, randomBytes }: KeyDependencies & { database: Database },
  name: OwnKeyName,
  { overlapMs }: { overlapMs: number },
): Promise<NewApiKey> {
  return await inTransaction(database, async (tx) => {
    await lockKeysOf(tx, name.accountId);
    const now = clock.now();
    const old = requireRotatable(requireKey(await lockOwnKey(tx, name), name), now);
    await updateApiKeyRow(tx, overlapMs === 0 ? { ...old, revokedAt: now } : endBy(old, now.getTime() + overlapMs));
    await requireRoom(tx, name.accountId, now);
    const { accountId, name: sameName, lineageId, logsContent } = old;
    const { expiresAt, modelIds, endpoints, addresses, budget, limits } = old;
    const restrictions = { expiresAt, modelIds, endpoints, addresses, budget, limits };
    const request = { accountId, name: sameName, lineageId, logsContent, ...restrictions };
    return await writeApiKey(tx, { clock, ids, randomBytes }, request);
  });
}

function endBy(old: ApiKey, endMs: number): ApiKey {
  return { ...old, expiresAt: new Date(Math.min(endMs, old.expiresAt?.getTime() ?? endMs)) };
}

/** Takes the account's key lock, so concurrent requests cannot exceed the maximum. */
async function requireRoom(tx: Database, accountId: AccountId, now: Date): Promise<void> {
  await lockKeysOf(tx, accountId);
  if ((await countLiveKeys(tx, accountId, now)) < liveKeysMax) return;
  const message = `An account can have ${liveKeysMax} active keys. Revoke one that you don't need.`;
  throw new AppError("invalid_parameter", message);
}

function requireKey(apiKey: ApiKey | null, { id }: OwnKeyName): ApiKey {
  if (apiKey === null) throw new AppError("not_found", `There is no key ${id}.`, { param: "id" });
  return apiKey;
}

function requireUnrevoked(apiKey: ApiKey): ApiKey {
  if (apiKey.revokedAt === null) return apiKey;
  throw new AppError("invalid_parameter", "The key was revoked. Create a new one.", { param: "id" });
}

function requireRotatable(apiKey: ApiKey, now: Date): ApiKey {
  const kind = findKeyKind(apiKey);
  const reject = (message: string): AppError => new AppError("invalid_parameter", message, { param: "id" });
  if (kind === "client") throw reject("Connect the program again: that creates a new key and revokes this one.");
  if (kind === "console") throw reject("The console's own key needs no rotation: its secret is not stored.");
  if (apiKey.expiresAt !== null && apiKey.expiresAt <= now) throw reject("The key has expired. Create a new one.");
  return requireUnrevoked(apiKey);
}

function mergeLimits(limits: Partial<LimitSet>, change: NonNullable<OwnKeyChange["limits"]>): Partial<LimitSet> {
  const merged = Object.entries({ ...limits, ...change }).filter(([, value]) => value !== null && value !== undefined);
  // Both objects contain only names of limits.
  return Object.fromEntries(merged) as Partial<LimitSet>;
}
