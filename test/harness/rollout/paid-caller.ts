import { randomBytes } from "node:crypto";
import { createAccount, createApiKey, updateAccount } from "../../../src/features/accounts/index.ts";
import { bookCredit } from "../../../src/features/ledger/index.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { createIdSource } from "../../../src/lib/ids.ts";
import { nano } from "../../../src/lib/money.ts";
import type { Database } from "../../../src/platform/database/database.ts";

const limitMax = 1_000_000_000;
const cash = nano(1_000_000_000_000_000n);

/** A new account with money and high limits; returns its key. For gateways in other processes. */
export async function createPaidCaller(database: Database): Promise<string> {
  const clock = systemClock;
  const parts = { database, clock, ids: createIdSource({ clock, randomBytes }), randomBytes, hasModel: () => true };
  const { id: accountId } = await createAccount(parts, { email: `${randomBytes(6).toString("hex")}@example.com` });
  await updateAccount(parts, accountId, {
    limits: { requestsPerMinute: limitMax / 10, tokensPerMinute: limitMax, concurrentRequests: limitMax / 10 },
  });
  const booking = { kind: "top-up", amount: cash } as const;
  await bookCredit(parts, { accountId, booking, actor: "test", reason: "test", reference: null });
  const { text } = await createApiKey(parts, { accountId, name: "test" });
  return text;
}
