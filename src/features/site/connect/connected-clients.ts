import type { Clock } from "../../../lib/clock.ts";
import type { AccountId } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import {
  type ApiKey,
  findApiKey,
  findKeyClient,
  listClientKeys,
  listKeyUses,
  revokeApiKey,
} from "../../accounts/index.ts";

export type ConnectedClient = { apiKey: ApiKey; lastUsedAt: Date | null };

type ClientDependencies = { database: Database; clock: Clock };

/** Newest first. */
export async function listConnectedClients(
  { database, clock }: ClientDependencies,
  accountId: AccountId,
): Promise<ConnectedClient[]> {
  const keys = await listClientKeys(database, accountId, clock.now());
  const uses = await listKeyUses(
    database,
    keys.map(({ id }) => id),
  );
  return keys.map((apiKey) => ({ apiKey, lastUsedAt: uses.get(apiKey.id) ?? null }));
}

/** Revokes the program's key. Needs no reauthentication: it only removes access. */
export async function disconnectClient(
  { database, clock }: ClientDependencies,
  accountId: AccountId,
  keyId: string,
): Promise<void> {
  const apiKey = await findApiKey(database, keyId);
  if (apiKey === null || apiKey.accountId !== accountId || findKeyClient(apiKey) === null) {
    throw new AppError("not_found", `No connected program has the id ${keyId}.`);
  }
  await revokeApiKey({ database, clock }, apiKey.id);
}
