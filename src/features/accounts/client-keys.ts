import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { ApiKey, KeyRestrictions } from "./account.ts";
import { findNewestKeyByName, listLiveKeysByPrefix, lockKeyName, revokeKeysByName } from "./api-key-store.ts";
import { type KeyDependencies, type NewApiKey, writeApiKey } from "./create-api-key.ts";
import { clientKeyPrefix } from "./require-valid.ts";

type ClientKeyRequest = { accountId: AccountId; client: string } & Pick<KeyRestrictions, "expiresAt" | "budget">;

/**
 * Makes the key of a program that an account's owner connects, and ends the one that it had: with the transaction both
 * happen or neither does. Of several that are made at once, the last one lives. A program can ask as often as it likes, so
 * what its owner has limited its keys to stays, and so does what they spent; `null` keeps the budget that there was.
 */
export async function issueClientKey(
  tx: Database,
  dependencies: KeyDependencies,
  { client, ...request }: ClientKeyRequest,
): Promise<NewApiKey> {
  const { accountId, expiresAt } = request;
  const name = `${clientKeyPrefix}${client}`;
  await lockKeyName(tx, accountId, name);
  const before = await findNewestKeyByName(tx, { accountId, name });
  await revokeKeysByName(tx, { accountId, name, revokedAt: dependencies.clock.now() });
  if (before === null) return await writeApiKey(tx, dependencies, { ...request, name });
  const { modelIds, endpoints, addresses, limits, lineageId, logsContent } = before;
  const budget = request.budget ?? before.budget;
  return await writeApiKey(tx, dependencies, {
    ...{ accountId, name, lineageId, logsContent, expiresAt },
    ...{ modelIds, endpoints, addresses, limits, budget },
  });
}

/** The key that a program had last, whose limits the next one keeps; `null` for a program that had none. */
export async function findLastClientKey(
  database: Database,
  { accountId, client }: { accountId: AccountId; client: string },
): Promise<ApiKey | null> {
  return await findNewestKeyByName(database, { accountId, name: `${clientKeyPrefix}${client}` });
}

/** The keys of connected programs that work at the moment, newest first. */
export async function listClientKeys(database: Database, accountId: AccountId, now: Date): Promise<ApiKey[]> {
  return await listLiveKeysByPrefix(database, { accountId, prefix: clientKeyPrefix, now });
}

/** Which program a key belongs to, or `null` for a key that a person made. */
export function findKeyClient({ name }: Pick<ApiKey, "name">): string | null {
  return name.startsWith(clientKeyPrefix) ? name.slice(clientKeyPrefix.length) : null;
}
