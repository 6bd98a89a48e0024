import { createAccount, createApiKey, hasAccounts } from "../features/accounts/index.ts";
import { seedSandboxCatalog } from "../features/catalog/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { IdSource } from "../lib/ids.ts";
import type { Database } from "../platform/database/database.ts";

const demoEmail = "demo@localhost";

type FirstRunParts = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  randomBytes: (count: number) => Uint8Array;
};

/** Gives an empty sandbox something to try: a demo account, a key and a model. `null` on every later run. */
export async function prepareFirstRun(parts: FirstRunParts): Promise<{ keyText: string } | null> {
  if (await hasAccounts(parts.database)) return null;
  return await parts.database.transaction().execute(async (tx) => {
    await seedSandboxCatalog(tx, parts.clock.now());
    const account = await createAccount({ ...parts, database: tx }, { email: demoEmail, password: null });
    const key = await createApiKey({ ...parts, database: tx }, { accountId: account.id, name: "demo" });
    return { keyText: key.text };
  });
}
