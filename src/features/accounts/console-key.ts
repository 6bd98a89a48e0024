import type { AccountId } from "../../lib/ids.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import type { ApiKey } from "./account.ts";
import { findConsoleKey, lockKeyName } from "./api-key-store.ts";
import { type KeyDependencies, writeApiKey } from "./create-api-key.ts";

const consoleKeyName = "Console";

/**
 * The key that stands for what an account's people do in the console, so that it is counted and told like any other.
 * Its text is thrown away as it is made: nobody can call with it.
 */
export async function getConsoleKey(
  database: Database,
  dependencies: KeyDependencies,
  accountId: AccountId,
): Promise<ApiKey> {
  const known = await findConsoleKey(database, accountId);
  if (known !== null) return known;
  return await inTransaction(database, async (tx) => {
    await lockKeyName(tx, accountId, consoleKeyName);
    const made = await findConsoleKey(tx, accountId);
    if (made !== null) return made;
    const { apiKey } = await writeApiKey(tx, dependencies, { accountId, name: consoleKeyName, isConsole: true });
    return apiKey;
  });
}
