import type { Clock } from "../../lib/clock.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Database } from "../../platform/database/database.ts";
import { lockWallets } from "./ledger-store.ts";
import { addToRollUps, closeBooks, listUnrolledAccounts, markRolledUp } from "./roll-up-store.ts";

/** Charges this young stay out, so that a commit under way keeps its own time. */
const youngMs = 10_000;
const accountsAtOnce = 100;

/**
 * Adds the charges since the last time to the roll-ups of all accounts that changed. The first transaction ends the span, the
 * second one reads it: no commit waits while charges are summed, and none can add a charge to what was summed.
 */
export async function rollUpUsage({ database, clock }: { database: Database; clock: Clock }): Promise<void> {
  const until = new Date(clock.now().getTime() - youngMs);
  let after = "";
  for (;;) {
    const accountIds = await listUnrolledAccounts(database, { after, limit: accountsAtOnce });
    const last = accountIds.at(-1);
    if (last === undefined) return;
    after = last;
    const spans = await database.transaction().execute(async (tx) => {
      await lockWallets(tx, accountIds);
      return await closeBooks(tx, accountIds, until);
    });
    if (spans.length === 0) continue;
    await database.transaction().execute(async (tx) => {
      await addToRollUps(tx, spans, until);
      await lockWallets(tx, accountIds);
      const marked = await markRolledUp(tx, spans, until);
      invariant(marked === BigInt(spans.length), "another process rolled the same charges up");
    });
  }
}
