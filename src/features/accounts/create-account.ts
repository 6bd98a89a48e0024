import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { Account } from "./account.ts";
import { insertAccount } from "./account-store.ts";
import { getPlan } from "./change-plan.ts";

/** Deliberately loose: only a mail can prove the address. */
const emailPattern = /^[^\s@]+@[^\s@]+$/;
const emailCharactersMax = 254;

export async function createAccount(
  { database, clock, ids }: { database: Database; clock: Clock; ids: IdSource },
  request: { email: string; planId?: string },
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
    throw new AppError("invalid_parameter", `${request.email} already has an account.`, { param: "email" });
  }
  return { ...account, suspendedAt: null, spendCappedUntil: null };
}

function requireEmail(email: string): void {
  if (emailPattern.test(email) && email.length <= emailCharactersMax) return;
  throw new AppError("invalid_parameter", `${email} is not an e-mail address.`, { param: "email" });
}
