import { type LiveCatalog, listOfferedModels } from "../features/catalog/index.ts";
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
  siteUrl: string;
};

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Rejects a call with a large body before reading it, if the account has no funds. The call's own price is checked later.
 */
export async function requireFunds(
  { database, ledger, catalog, clock, siteUrl }: FundsDependencies,
  caller: Caller,
  headers: Headers,
): Promise<void> {
  const spendable = ledger.estimateSpendable(caller.accountId, null);
  if (spendable !== null && spendable > 0n) return;
  const now = clock.now();
  const { balance } = await readBalance(database, caller.accountId, now);
  if (balance.available > 0n || Object.values(balance.quotas).some((units) => units > 0n)) return;
  // A repeated idempotent request is free.
  const key = parseIdempotencyKey(headers["idempotency-key"]);
  if (key !== null && (await isKeyKnown({ database, clock }, { accountId: caller.accountId, key }))) return;
  const offered = listOfferedModels(catalog.current(), caller, now);
  if (offered.some(({ prices }) => prices.some(({ isFree }) => isFree))) return;
  throw new AppError(
    "insufficient_balance",
    `The balance is empty. Add credit at ${siteUrl}/console/billing to continue.`,
  );
}
