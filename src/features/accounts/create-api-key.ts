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

/** What it takes to make a key, beside the transaction. */
export type KeyDependencies = { clock: Clock; ids: IdSource; randomBytes: (count: number) => Uint8Array };

/** Whether the catalog has a model, so that a key cannot be limited to one that does not exist. */
export type HasModel = (modelId: string) => boolean;

type KeyRequest = {
  accountId: string;
  name: string;
  isConsole?: boolean;
  /** The line of the key that it replaces; a key that replaces none begins one. */
  lineageId?: KeyId;
  logsContent?: boolean;
  /** Absent where a key keeps what another was limited to: that was judged then, and may have lost a model since. */
  hasModel?: HasModel;
} & Partial<KeyRestrictions>;

/** The only moment at which the text of a key is known; afterwards there is just its hash. */
export type NewApiKey = { apiKey: ApiKey; text: string };

export async function createApiKey(
  { database, hasModel, clock, ids, randomBytes }: KeyDependencies & { database: Database; hasModel: HasModel },
  request: Omit<KeyRequest, "isConsole" | "lineageId" | "hasModel">,
): Promise<NewApiKey> {
  const name = requireKeyName(request.name);
  return await writeApiKey(database, { clock, ids, randomBytes }, { ...request, name, hasModel });
}

/** For whoever has made sure of the name. */
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
