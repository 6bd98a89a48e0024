import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { lockWallets } from "./ledger-store.ts";
import { type PeriodSums, sumPeriod } from "./period-store.ts";
import { closeBooksOf } from "./roll-up-store.ts";

/**
 * Sums an account's money in a period that has ended. Entries that are committed later get a later time, so the sums stay
 * what they are. Call it in a transaction: it locks the wallet.
 */
export async function closePeriod(
  tx: Database,
  accountId: AccountId,
  period: { from: Date; to: Date },
): Promise<PeriodSums> {
  await lockWallets(tx, [accountId]);
  await closeBooksOf(tx, accountId, period.to);
  return await sumPeriod(tx, accountId, period);
}
