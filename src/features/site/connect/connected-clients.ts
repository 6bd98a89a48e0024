import type { AccountId } from "../../../lib/ids.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import {
  type ApiKey,
  findApiKey,
  findKeyClient,
  listClientKeys,
  listKeyUses,
  revokeApiKey,
} from "../../accounts/index.ts";
import type { SiteDependencies } from "../site-dependencies.ts";

/** Newest first. */
export async function listConnectedClients(
  { database, clock }: SiteDependencies,
  accountId: AccountId,
): Promise<{ apiKey: ApiKey; lastUsedAt: Date | null }[]> {
  const keys = await listClientKeys(database, accountId, clock.now());
  const keyIds = keys.map(({ id }) => id);
  const uses = await listKeyUses(database, keyIds);
  return keys.map((apiKey) => ({ apiKey, lastUsedAt: uses.get(apiKey.id) ?? null }));
}

/** Revokes the program's key. Needs no reauthentication: it only removes access. */
export async function disconnectClient(
  { database, clock }: SiteDependencies,
  accountId: AccountId,
  keyId: string,
): Promise<void> {
  const apiKey = await findApiKey(database, keyId);
  if (apiKey === null || apiKey.accountId !== accountId || findKeyClient(apiKey) === null) {
    throw new AppError("not_found", `No connected program has the id ${keyId}.`);
  }
  await revokeApiKey({ database, clock }, apiKey.id);
}
