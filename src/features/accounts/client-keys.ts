import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { ApiKey, KeyRestrictions } from "./account.ts";
import { findNewestKeyByName, listLiveKeysByPrefix, lockKeyName, revokeKeysByName } from "./api-key-store.ts";
import { type KeyDependencies, type NewApiKey, writeApiKey } from "./create-api-key.ts";
import { clientKeyPrefix } from "./require-valid.ts";

type ClientKeyRequest = { accountId: AccountId; client: string } & Pick<KeyRestrictions, "expiresAt" | "budget">;

/**
 * Creates the key of a program that the account's owner connects and revokes its previous keys in the same transaction.
 * A program can connect as often as it likes, so the new key inherits the restrictions and the spending of the old one;
 * `budget: null` keeps the old budget.
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

/** The program's newest key, whose restrictions the next one inherits. */
export async function findLastClientKey(
  database: Database,
  { accountId, client }: { accountId: AccountId; client: string },
): Promise<ApiKey | null> {
  return await findNewestKeyByName(database, { accountId, name: `${clientKeyPrefix}${client}` });
}

/** Live keys of connected programs, newest first. */
export async function listClientKeys(database: Database, accountId: AccountId, now: Date): Promise<ApiKey[]> {
  return await listLiveKeysByPrefix(database, { accountId, prefix: clientKeyPrefix, now });
}

/** The program that a key belongs to, or `null`. */
export function findKeyClient({ name }: Pick<ApiKey, "name">): string | null {
  return name.startsWith(clientKeyPrefix) ? name.slice(clientKeyPrefix.length) : null;
}

export const keyKinds = ["secret", "client", "console"] as const;
/** `secret`: a person created it. `client`: a program got it through a browser. `console`: the console's own. */
type KeyKind = (typeof keyKinds)[number];

export function findKeyKind(apiKey: Pick<ApiKey, "name" | "isConsole">): KeyKind {
  if (apiKey.isConsole) return "console";
  return findKeyClient(apiKey) === null ? "secret" : "client";
}
