import { createAccount, createApiKey, hasAccounts } from "../features/accounts/index.ts";
import { seedSandboxCatalog } from "../features/catalog/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { IdSource } from "../lib/ids.ts";
import type { Database } from "../platform/database/database.ts";

const demoEmail = "demo@localhost";

type SandboxParts = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  randomBytes: (count: number) => Uint8Array;
};

/** Gives an empty sandbox something to try: a catalog, and a demo account with a key. `null` on every later run. */
export async function prepareFirstRun(parts: SandboxParts, currency: string): Promise<{ keyText: string } | null> {
  await seedSandboxCatalog(parts, currency);
  if (await hasAccounts(parts.database)) return null;
  return await parts.database.transaction().execute(async (tx) => {
    const account = await createAccount({ ...parts, database: tx }, { email: demoEmail, password: null });
    const keyParts = { ...parts, database: tx, hasModel: () => true };
    const key = await createApiKey(keyParts, { accountId: account.id, name: "demo" });
    return { keyText: key.text };
  });
}
