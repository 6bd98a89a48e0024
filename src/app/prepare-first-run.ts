import { createApiKey, hasAccounts } from "../features/accounts/index.ts";
import { seedSandboxCatalog } from "../features/catalog/index.ts";
import { hashPassword } from "../features/site/index.ts";
import { openEventInbox } from "../features/webhooks/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { IdSource } from "../lib/ids.ts";
import { nano } from "../lib/money.ts";
import type { Database } from "../platform/database/database.ts";
import { openAccount } from "./change-account.ts";

const demoEmail = "demo@localhost";
const demoCredit = {
  booking: { kind: "top-up" as const, amount: nano(10_000_000_000n) },
  actor: "sluice",
  reason: "the sandbox's demo account has something to spend",
  reference: null,
};

type SandboxParts = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  randomBytes: (count: number) => Uint8Array;
};

/** What the demo account's owner is told once. */
export type FirstRun = { email: string; password: string; keyText: string };

const passwordBytes = 15;

/**
 * Gives an empty sandbox something to try: a catalog, and a demo account with a password and a key. `null` on every
 * later run.
 */
export async function prepareFirstRun(parts: SandboxParts, currency: string): Promise<FirstRun | null> {
  await seedSandboxCatalog(parts, currency);
  if (await hasAccounts(parts.database)) return null;
  const password = Buffer.from(parts.randomBytes(passwordBytes)).toString("base64url");
  const passwordHash = await hashPassword(password);
  return await parts.database.transaction().execute(async (tx) => {
    const within = { ...parts, database: tx };
    const person = { passwordHash, isEmailVerified: false, isOperator: true };
    const account = await openAccount(within, { email: demoEmail, person, credit: demoCredit });
    await openEventInbox(tx, account.id, parts.clock.now());
    const keyParts = { ...within, hasModel: () => true };
    const key = await createApiKey(keyParts, { accountId: account.id, name: "demo" });
    return { email: demoEmail, password, keyText: key.text };
  });
}
