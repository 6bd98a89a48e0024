import type { AccountId, KeyId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { findApiKeyByHash } from "./account-store.ts";
import { hashKey, isWellFormedKey } from "./key-text.ts";

const challenge = { "www-authenticate": "Bearer" };

/** Who calls, told from the `Authorization` header. */
export async function authenticateCaller(
  database: Database,
  authorization: string | undefined,
): Promise<{ accountId: AccountId; keyId: KeyId }> {
  const text = /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
  if (text === undefined) {
    throw new AppError("missing_api_key", "Send your API key in the header `Authorization: Bearer <API_KEY>`.", {
      headers: challenge,
    });
  }
  const apiKey = isWellFormedKey(text) ? await findApiKeyByHash(database, hashKey(text)) : null;
  if (apiKey === null) {
    throw new AppError("invalid_api_key", "The API key is not valid. Check that it was copied whole.", {
      headers: challenge,
    });
  }
  if (apiKey.revokedAt !== null) {
    throw new AppError("revoked_api_key", "The API key was revoked.", {
      headers: challenge,
      detail: { keyId: apiKey.id },
    });
  }
  return { accountId: apiKey.accountId, keyId: apiKey.id };
}
