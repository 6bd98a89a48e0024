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

export type KeyDependencies = { clock: Clock; ids: IdSource; randomBytes: (count: number) => Uint8Array };

/** Whether the catalog contains the model. */
export type HasModel = (modelId: string) => boolean;

type KeyRequest = {
  accountId: string;
  name: string;
  isConsole?: boolean;
  /** The lineage of the key that it replaces; absent starts a new one. */
  lineageId?: KeyId;
  logsContent?: boolean;
  /** Absent if the key inherits its models: they were checked before, and the catalog may have dropped one since. */
  hasModel?: HasModel;
} & Partial<KeyRestrictions>;

/** The only value that contains a key's secret; the database stores its hash. */
export type NewApiKey = { apiKey: ApiKey; text: string };

export async function createApiKey(
  { database, hasModel, clock, ids, randomBytes }: KeyDependencies & { database: Database; hasModel: HasModel },
  request: Omit<KeyRequest, "isConsole" | "lineageId" | "hasModel">,
): Promise<NewApiKey> {
  const name = requireKeyName(request.name);
  return await writeApiKey(database, { clock, ids, randomBytes }, { ...request, name, hasModel });
}

/** The caller has validated the name. */
export async function writeApiKey(
  tx: Database,
  { clock, ids, randomBytes }: KeyDependencies,
  request: KeyRequest,
): Promise<NewApiKey> {
  const now = clock.now();
  const { accountId, name, isConsole = false, logsContent = false, lineageId, ...rest } = request;
  const { hasModel = () => true, ...given } = rest;
  const restrictions = { ...unrestricted, ...given };
  requireRestrictions(restrictions, { now, hasModel });
  const account = await findAccount(tx, accountId);
  if (account === null) throw new AppError("not_found", `There is no account ${accountId}.`, { param: "account" });
  const text = createKeyText(randomBytes);
  const id = ids.next("key");
  const apiKey = {
    ...restrictions,
    id,
    lineageId: lineageId ?? id,
    accountId: account.id,
    name,
    lastFour: text.slice(-4),
    isConsole,
    logsContent,
    createdAt: now,
  };
  await insertApiKey(tx, { ...apiKey, hash: Buffer.from(hashKey(text), "hex") });
  return { apiKey: { ...apiKey, revokedAt: null }, text };
}
