import type { Database } from "../../platform/database/database.ts";
import { OperatorError } from "../../platform/errors/operator-error.ts";
import { hasPostings, writeCurrency } from "./ledger-store.ts";

/** Stored amounts have no currency of their own, so it must not change once there are postings. */
export async function requireLedgerCurrency(database: Database, currency: string): Promise<void> {
  await database.transaction().execute(async (tx) => {
    const written = await writeCurrency(tx, currency, { mayReplace: !(await hasPostings(tx)) });
    if (written === currency) return;
    throw new OperatorError(
      `The ledger is in ${written}, but the setting currency is ${currency}.`,
      `Write currency: ${written}, or use another data_dir or database for another currency.`,
    );
  });
}
