import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ApiKey } from "./account.ts";
import { findAccount, insertApiKey } from "./account-store.ts";
import { createKeyText, hashKey } from "./key-text.ts";

const nameCharactersMax = 100;

/** The only moment at which the text of a key is known; afterwards there is just its hash. */
export async function createApiKey(
  parts: { database: Database; clock: Clock; ids: IdSource; randomBytes: (count: number) => Uint8Array },
  request: { accountId: string; name: string },
): Promise<{ apiKey: ApiKey; text: string }> {
  const name = request.name.trim();
  if (name === "" || name.length > nameCharactersMax) {
    throw new AppError("invalid_parameter", `A key's name has 1 to ${nameCharactersMax} characters.`, {
      param: "name",
    });
  }
  const account = await findAccount(parts.database, request.accountId);
  if (account === null) {
    throw new AppError("not_found", `There is no account ${request.accountId}.`, { param: "account" });
  }
  const text = createKeyText(parts.randomBytes);
  const apiKey = {
    id: parts.ids.next("key"),
    accountId: account.id,
    name,
    lastFour: text.slice(-4),
    createdAt: parts.clock.now(),
  };
  await insertApiKey(parts.database, { ...apiKey, hash: hashKey(text) });
  return { apiKey: { ...apiKey, revokedAt: null }, text };
}
