import type { Clock } from "../../lib/clock.ts";
import type { AccountId, IdSource } from "../../lib/ids.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import type { ApiKey } from "./account.ts";
import { findConsoleKey, lockKeyName } from "./api-key-store.ts";
import { writeApiKey } from "./create-api-key.ts";

export type ConsoleKeyParts = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  randomBytes: (count: number) => Uint8Array;
};

const consoleKeyName = "Console";

/**
 * The key that stands for what an account's people do in the console, so that it is counted and told like any other.
 * Its text is thrown away as it is made: nobody can call with it.
 */
export async function getConsoleKey(parts: ConsoleKeyParts, accountId: AccountId): Promise<ApiKey> {
  const known = await findConsoleKey(parts.database, accountId);
  if (known !== null) return known;
  return await inTransaction(parts.database, async (tx) => {
    await lockKeyName(tx, accountId, consoleKeyName);
    const made = await findConsoleKey(tx, accountId);
    if (made !== null) return made;
    // It is limited to no models, so nobody is asked which there are.
    const keyParts = { ...parts, database: tx, hasModel: () => false };
    const { apiKey } = await writeApiKey(keyParts, { accountId, name: consoleKeyName, isConsole: true });
    return apiKey;
  });
}
