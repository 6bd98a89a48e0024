import type { Clock } from "../../lib/clock.ts";
import type { AccountId, IdSource } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { ApiKey, KeyRestrictions } from "./account.ts";
import { listLiveKeysByPrefix, lockKeyName, revokeKeysByName } from "./api-key-store.ts";
import { type NewApiKey, writeApiKey } from "./create-api-key.ts";
import { clientKeyPrefix } from "./require-valid.ts";

type ClientKeyParts = { clock: Clock; ids: IdSource; randomBytes: (count: number) => Uint8Array };
type ClientKeyRequest = { accountId: AccountId; client: string } & Pick<KeyRestrictions, "expiresAt" | "budget">;

/**
 * Makes the key of a program that an account's owner connects, and ends the one that it had: with the transaction both
 * happen or neither does. Of several that are made at once, the last one lives.
 */
export async function issueClientKey(
  tx: Database,
  parts: ClientKeyParts,
  { client, ...request }: ClientKeyRequest,
): Promise<NewApiKey> {
  const { accountId } = request;
  const name = `${clientKeyPrefix}${client}`;
  await lockKeyName(tx, accountId, name);
  await revokeKeysByName(tx, { accountId, name, revokedAt: parts.clock.now() });
  // It is limited to no models, so nobody is asked which there are.
  return await writeApiKey({ ...parts, database: tx, hasModel: () => false }, { ...request, name });
}

/** The keys of connected programs that work at the moment, newest first. */
export async function listClientKeys(database: Database, accountId: AccountId, now: Date): Promise<ApiKey[]> {
  return await listLiveKeysByPrefix(database, { accountId, prefix: clientKeyPrefix, now });
}

/** Which program a key belongs to, or `null` for a key that a person made. */
export function findKeyClient({ name }: Pick<ApiKey, "name">): string | null {
  return name.startsWith(clientKeyPrefix) ? name.slice(clientKeyPrefix.length) : null;
}
