import type { Clock } from "../../lib/clock.ts";
import type { IdSource, KeyId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { type ApiKey, type KeyRestrictions, unrestricted } from "./account.ts";
import { findAccount } from "./account-store.ts";
import { insertApiKey } from "./api-key-store.ts";
import { requireRestrictions } from "./key-restrictions.ts";
import { createKeyText, hashKey } from "./key-text.ts";
import { requireKeyName } from "./require-valid.ts";

export type KeyParts = {
  database: Database;
  clock: Clock;
  /** Whether the catalog has a model, so that a key cannot be limited to one that does not exist. */
  hasModel(modelId: string): boolean;
};

export type KeyMakerParts = KeyParts & { ids: IdSource; randomBytes: (count: number) => Uint8Array };
type KeyRequest = {
  accountId: string;
  name: string;
  isConsole?: boolean;
  /** The line of the key that it replaces; a key that replaces none begins one. */
  lineageId?: KeyId;
} & Partial<KeyRestrictions>;

/** The only moment at which the text of a key is known; afterwards there is just its hash. */
export type NewApiKey = { apiKey: ApiKey; text: string };

export async function createApiKey(
  parts: KeyMakerParts,
  request: Omit<KeyRequest, "isConsole" | "lineageId">,
): Promise<NewApiKey> {
  return await writeApiKey(parts, { ...request, name: requireKeyName(request.name) });
}

/** For whoever has made sure of the name. */
export async function writeApiKey(parts: KeyMakerParts, request: KeyRequest): Promise<NewApiKey> {
  const now = parts.clock.now();
  const { accountId, name, isConsole = false, lineageId, ...given } = request;
  const restrictions = { ...unrestricted, ...given };
  requireRestrictions(restrictions, { now, hasModel: parts.hasModel });
  const account = await findAccount(parts.database, accountId);
  if (account === null) throw new AppError("not_found", `There is no account ${accountId}.`, { param: "account" });
  const text = createKeyText(parts.randomBytes);
  const id = parts.ids.next("key");
  const apiKey = {
    ...restrictions,
    id,
    lineageId: lineageId ?? id,
    accountId: account.id,
    name,
    lastFour: text.slice(-4),
    isConsole,
    createdAt: now,
  };
  await insertApiKey(parts.database, { ...apiKey, hash: Buffer.from(hashKey(text), "hex") });
  return { apiKey: { ...apiKey, revokedAt: null }, text };
}
