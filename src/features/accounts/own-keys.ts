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
import { createApiKey, type HasModel, type KeyDependencies, type NewApiKey, writeApiKey } from "./create-api-key.ts";
import { findKeyKind } from "./key-kind.ts";
import { isWidened } from "./key-restrictions.ts";
import { type KeyChangeDependencies, revokeApiKey, updateApiKey } from "./update-api-key.ts";

/** `null` takes a limit away; one that is not named stays. */
export type OwnKeyChange = {
  name?: string;
  logsContent?: boolean;
  limits?: { [L in keyof LimitSet]?: number | null };
} & Partial<Omit<KeyRestrictions, "limits">>;

const liveKeysMax = 100;

/** What an account's own people may do with its keys. To them another account's key is none. */
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

/** `permitWidening` throws where whoever asks may not let the key do more than it could, or let more be kept of its calls. */
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
 * A new key with the name and restrictions of an old one, which ends at once, or after a while in which whoever has it
 * can change over. Both happen or neither does. What was spent of a budget stays spent: it is counted by the line.
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

/** One after another, so that a hundred who ask at once do not each see room for one more. */
async function requireRoom(tx: Database, accountId: AccountId, now: Date): Promise<void> {
  await lockKeysOf(tx, accountId);
  if ((await countLiveKeys(tx, accountId, now)) < liveKeysMax) return;
  const message = `An account has at most ${liveKeysMax} keys that work. Revoke one that is not needed.`;
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
  const refuse = (message: string): AppError => new AppError("invalid_parameter", message, { param: "id" });
  if (kind === "client") throw refuse("Connect the program again: that gives it a new key and ends this one.");
  if (kind === "console") throw refuse("The console's own key is known to nobody, so it needs no other.");
  if (apiKey.expiresAt !== null && apiKey.expiresAt <= now) throw refuse("The key has expired. Create a new one.");
  return requireUnrevoked(apiKey);
}

function mergeLimits(limits: Partial<LimitSet>, change: NonNullable<OwnKeyChange["limits"]>): Partial<LimitSet> {
  const merged = Object.entries({ ...limits, ...change }).filter(([, value]) => value !== null && value !== undefined);
  // Only names of limits are in either.
  return Object.fromEntries(merged) as Partial<LimitSet>;
}
