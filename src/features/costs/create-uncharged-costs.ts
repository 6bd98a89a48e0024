import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../../lib/clock.ts";
import { createCoalescer } from "../../lib/coalescer.ts";
import type { IdSource } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import { type Database, isDatabaseUnavailable } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import { insertUnchargedCosts, type UnchargedCost, type UnchargedRow } from "./uncharged-cost-store.ts";

export type UnchargedCosts = {
  /** Queues the cost of one call. Never throws or waits. */
  add(cost: UnchargedCost): void;
  /** Writes what is still queued. */
  close(): Promise<void>;
};

const limits = { gatherMs: 1000, batchMax: 10_000, waitingMax: 50_000 };

type Waiting = { cost: UnchargedCost; id: string; at: Date };

/**
 * Writes costs of calls without a charge in batches, summed by account, model and route: a free model's call must not cost a
 * statement of its own. A crash loses those of the last second, which no customer has paid for.
 */
export function createUnchargedCosts({
  database,
  clock,
  ids,
  logger,
}: {
  database: Database;
  clock: Clock;
  ids: IdSource;
  logger: Logger;
}): UnchargedCosts {
  let isClosing = false;
  const writer = createCoalescer<Waiting, void>({
    ...{ batchMax: limits.batchMax, waitingMax: limits.waitingMax },
    gather: (hurry) => wait(limits.gatherMs, undefined, { signal: hurry, ref: false }).catch(() => {}),
    async run(batch) {
      await insertUnchargedCosts(database, sumCosts(batch));
      return [];
    },
    judge: (failure) => (isDatabaseUnavailable(failure) && !isClosing ? "again" : toError(failure)),
    onTrouble: (error) => logger.warn({ error }, "uncharged costs not written"),
    onLost: ({ cost }) =>
      logger.error({ model: cost.modelId, upstream: cost.providerId }, "uncharged cost of an upstream lost"),
  });
  return {
    add: (cost) => writer.tell({ cost, id: ids.next("cost"), at: clock.now() }),
    async close() {
      isClosing = true;
      await writer.close();
    },
  };
}

/** A sum has the id of its first cost, so a batch that is written again changes nothing. */
function sumCosts(batch: readonly Waiting[]): UnchargedRow[] {
  const rows = new Map<string, UnchargedRow>();
  for (const { cost, id, at } of batch) {
    const { accountId, modelId, providerId, upstreamModel, amount } = cost;
    const name = JSON.stringify([accountId, modelId, providerId, upstreamModel]);
    const known = rows.get(name) ?? {
      accountId,
      modelId,
      providerId,
      upstreamModel,
      id,
      createdAt: at,
      calls: 0,
      amount: nano(0n),
    };
    rows.set(name, { ...known, calls: known.calls + 1, amount: nano(known.amount + amount) });
  }
  return [...rows.values()];
}

function toError(failure: unknown): Error {
  return failure instanceof Error ? failure : new Error("The costs could not be written.", { cause: failure });
}
