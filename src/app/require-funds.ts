import { type LiveCatalog, listOfferedModels, type Price } from "../features/catalog/index.ts";
import { isKeyKnown, parseIdempotencyKey } from "../features/idempotency/index.ts";
import { type Ledger, readBalance } from "../features/ledger/index.ts";
import type { Caller } from "../lib/caller.ts";
import type { Clock } from "../lib/clock.ts";
import type { Database } from "../platform/database/database.ts";
import { AppError } from "../platform/errors/app-error.ts";

type FundsDependencies = {
  database: Database;
  ledger: Pick<Ledger, "estimateSpendable">;
  catalog: LiveCatalog;
  clock: Clock;
};

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Refuses a call of an account that has nothing left, before its body is read: only a large one is worth the question.
 * Whoever is let pass is still asked for the price of what they want.
 */
export async function requireFunds(
  { database, ledger, catalog, clock }: FundsDependencies,
  caller: Caller,
  headers: Headers,
): Promise<void> {
  const spendable = ledger.estimateSpendable(caller.accountId, null);
  if (spendable !== null && spendable > 0n) return;
  const now = clock.now();
  const { balance } = await readBalance(database, caller.accountId, now);
  if (balance.available > 0n || Object.values(balance.quotas).some((units) => units > 0n)) return;
  // What was done is done: its answer is given again for nothing.
  const key = parseIdempotencyKey(headers["idempotency-key"]);
  if (key !== null && (await isKeyKnown({ database, clock }, { accountId: caller.accountId, key }))) return;
  const offered = listOfferedModels(catalog.current(), caller, now);
  if (offered.some(({ prices }) => prices.some(isFree))) return;
  throw new AppError("insufficient_balance", "The balance has nothing left. Recharge it.");
}

function isFree({ amounts, minimumCharge }: Price): boolean {
  if (minimumCharge > 0n) return false;
  return amounts.billingType === "token"
    ? amounts.inputPrice === 0n && amounts.outputPrice === 0n
    : amounts.price === 0n;
}
