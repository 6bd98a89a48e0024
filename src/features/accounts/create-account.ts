import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { Account } from "./account.ts";
import { insertAccount } from "./account-store.ts";
import { getPlan } from "./change-plan.ts";

/** One `@` with something on both sides; whether mail arrives there is for a mail to find out. */
const emailPattern = /^[^\s@]+@[^\s@]+$/;
const emailCharactersMax = 254;

type NewAccount = { email: string; planId?: string };

export async function createAccount(
  { database, clock, ids }: { database: Database; clock: Clock; ids: IdSource },
  request: NewAccount,
): Promise<Account> {
  requireEmail(request.email);
  if (request.planId !== undefined) await getPlan(database, request.planId);
  const account = {
    id: ids.next("acct"),
    email: request.email,
    planId: request.planId ?? null,
    timeZone: "UTC",
    limits: {},
    createdAt: clock.now(),
  };
  if (!(await insertAccount(database, account))) {
    throw new AppError("invalid_parameter", `There is an account for ${request.email} already.`, { param: "email" });
  }
  return { ...account, suspendedAt: null };
}

function requireEmail(email: string): void {
  if (emailPattern.test(email) && email.length <= emailCharactersMax) return;
  throw new AppError("invalid_parameter", `${email} is not an e-mail address.`, { param: "email" });
}
