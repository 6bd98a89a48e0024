import { createApiKey, hasAccounts } from "../features/accounts/index.ts";
import { seedSandboxCatalog } from "../features/catalog/index.ts";
import { hashPassword } from "../features/site/index.ts";
import { openEventInbox } from "../features/webhooks/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { IdSource } from "../lib/ids.ts";
import { nano } from "../lib/money.ts";
import type { Database } from "../platform/database/database.ts";
import { AppError } from "../platform/errors/app-error.ts";
import { openAccount } from "./change-account.ts";

const demoEmail = "demo@localhost";
const demoCredit = {
  booking: { kind: "top-up" as const, amount: nano(10_000_000_000n) },
  actor: "sluice",
  reason: "sandbox demo credit",
  reference: null,
};

type SandboxDependencies = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  randomBytes: (count: number) => Uint8Array;
};

/** Shown once. */
export type FirstRun = { email: string; password: string; keyText: string };

const passwordBytes = 15;

/**
 * Prepares an empty sandbox with a catalog and a demo account with password and key. `null` on later runs.
 */
export async function prepareFirstRun(
  { database, clock, ids, randomBytes }: SandboxDependencies,
  currency: string,
): Promise<FirstRun | null> {
  await seedSandboxCatalog({ database, clock, ids }, currency);
  if (await hasAccounts(database)) return null;
  const password = Buffer.from(randomBytes(passwordBytes)).toString("base64url");
  const passwordHash = await hashPassword(password);
  try {
    return await database.transaction().execute(async (tx) => {
      const within = { database: tx, clock, ids };
      const person = { passwordHash, isEmailVerified: false, isOperator: true };
      const account = await openAccount(within, { email: demoEmail, person, credit: demoCredit });
      await openEventInbox(tx, account.id, clock.now());
      const request = { accountId: account.id, name: "demo" };
      const key = await createApiKey({ ...within, randomBytes, hasModel: () => true }, request);
      return { email: demoEmail, password, keyText: key.text };
    });
  } catch (error) {
    // Another gateway that started at the same time was first.
    if (error instanceof AppError && (await hasAccounts(database))) return null;
    throw error;
  }
}
