import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { decideWithin } from "./apply-within.ts";
import type { Operation } from "./operation.ts";
import { listDueHolds, listDuePockets } from "./sweep-store.ts";

const atOnceMax = 200;

/** Gives back what nobody settled in time, and takes what is left of gifts and quotas whose time is over. */
export async function sweepLedger(parts: { database: Database; clock: Clock }): Promise<{ swept: number }> {
  const holds = await sweep(parts, listDueHolds);
  // What a hold gave back to a gift that is over goes with it.
  const pockets = await sweep(parts, listDuePockets);
  return { swept: holds + pockets };
}

type ListDue = (database: Database, due: { now: Date; limit: number }) => Promise<Operation[]>;

/** In portions, so that no wallet is locked for long. */
async function sweep({ database, clock }: { database: Database; clock: Clock }, listDue: ListDue): Promise<number> {
  let total = 0;
  for (;;) {
    const now = clock.now();
    const operations = await listDue(database, { now, limit: atOnceMax });
    if (operations.length > 0) await database.transaction().execute((tx) => decideWithin(tx, operations, { now }));
    total += operations.length;
    if (operations.length < atOnceMax) return total;
  }
}
