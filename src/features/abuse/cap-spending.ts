import { findPeriodEnd, findPeriodStart } from "../../lib/budget.ts";
import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import { type Nano, presentMoney } from "../../lib/money.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { updateSpendCaps } from "../accounts/index.ts";
import { sumSpentSince } from "../ledger/index.ts";
import { insertNotice } from "../notices/index.ts";
import { listCapped, updateCapLifted } from "./sign-up-store.ts";

/** For accounts that signed up themselves, in their first days. */
export type SpendCap = { amount: Nano; days: number };

type Capping = { database: Database; clock: Clock; currency: string; cap: SpendCap };

const dayMs = 24 * 60 * 60_000;
const accountsAtOnce = 500;

/** Stops new accounts that have spent their daily maximum, until midnight UTC. Money on hold counts. */
export async function capSpending({ database, clock, currency, cap }: Capping, signal: AbortSignal): Promise<void> {
  const now = clock.now();
  const since = new Date(now.getTime() - cap.days * dayMs);
  const midnight = findPeriodStart("day", now);
  const until = findPeriodEnd("day", now) ?? now;
  let after = "";
  for (;;) {
    const ids = await listCapped(database, { since, after, limit: accountsAtOnce });
    const spent = await sumSpentSince(database, ids, midnight);
    const over = ids.filter((id) => (spent.get(id) ?? 0n) >= cap.amount);
    if (signal.aborted) return;
    await capAll({ database, currency, cap }, { over, until, now });
    const last = ids.at(-1);
    if (last === undefined || ids.length < accountsAtOnce) return;
    after = last;
  }
}

/** The cap and its mail commit together. */
async function capAll(
  { database, currency, cap }: Pick<Capping, "database" | "currency" | "cap">,
  { over, until, now }: { over: readonly AccountId[]; until: Date; now: Date },
): Promise<void> {
  if (over.length === 0) return;
  await inTransaction(database, async (tx) => {
    for (const accountId of await updateSpendCaps(tx, over.toSorted(), until)) {
      const facts = { cap: `${presentMoney(cap.amount)} ${currency}`, until: until.toISOString() };
      const id = `spend_cap:${accountId}:${until.toISOString().slice(0, 10)}`;
      await insertNotice(tx, { id, accountId, kind: "spend_cap", facts }, now);
    }
  });
}

/** For good: the account is known to the operator. */
export async function liftCap(
  { database, clock }: Pick<Capping, "database" | "clock">,
  accountId: string,
): Promise<void> {
  await inTransaction(database, async (tx) => {
    if (!(await updateCapLifted(tx, accountId, clock.now()))) {
      throw new AppError("not_found", `${accountId} did not sign up itself, so it has no cap.`, { param: "account" });
    }
    await updateSpendCaps(tx, [accountId as AccountId], null);
  });
}
