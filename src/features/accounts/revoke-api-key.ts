import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ApiKey } from "./account.ts";
import { updateApiKeyRevoked } from "./account-store.ts";

/** A key that was revoked before stays revoked since then. */
export async function revokeApiKey(parts: { database: Database; clock: Clock }, keyId: string): Promise<ApiKey> {
  const apiKey = await updateApiKeyRevoked(parts.database, keyId, parts.clock.now());
  if (apiKey === null) throw new AppError("not_found", `There is no key ${keyId}.`, { param: "key" });
  return apiKey;
}
