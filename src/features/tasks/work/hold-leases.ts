import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../../../lib/clock.ts";
import { createCoalescer } from "../../../lib/coalescer.ts";
import type { Database } from "../../../platform/database/database.ts";
import type { Logger } from "../../../platform/observability/logger.ts";
import type { ClaimedTask } from "../task.ts";
import {
  type Claimed,
  claimDueTasks,
  claimTasks,
  type Lease,
  type LeaseTime,
  renewLeases,
  returnLeases,
} from "./lease-store.ts";

/** How long a worker's lease lasts unless it is renewed: then others believe it dead and claim the task. */
export const leaseMs = 12_000;
const renewEveryMs = 3_000;
const returnAfterMs = 20;

/** The leases that this process has, renewed as long as it lives. */
export type HeldLeases = {
  claimDue(limit: number): Promise<ClaimedTask[]>;
  claim(taskIds: readonly string[]): Promise<ClaimedTask[]>;
  /** Its step has ended, and when it is due again is written. */
  drop(lease: Lease): void;
  /** Its step has ended; it is due again then, which is written soon. */
  giveBack(lease: Lease, dueAt: Date): void;
  /** Ends when everything that was given back is written. */
  close(): Promise<void>;
};

type LeaseDependencies = {
  database: Database;
  clock: Clock;
  logger: Logger;
  /** Told of what went wrong with the queue; it is tried again. */
  onTrouble(error: unknown): void;
};

export function holdLeases(dependencies: LeaseDependencies): HeldLeases {
  const { database, clock } = dependencies;
  const held = new Map<string, Lease & { until: Date }>();
  const returns = createReturns(dependencies);
  let renewal: Promise<void> = Promise.resolve();

  function takeTime(): LeaseTime {
    const now = clock.now();
    return { now, until: new Date(now.getTime() + leaseMs) };
  }

  function hold({ tasks, unreadable }: Claimed, { until }: LeaseTime): ClaimedTask[] {
    for (const error of unreadable) dependencies.onTrouble(error);
    for (const { id, fencingToken } of tasks) held.set(id, { id, fencingToken, until });
    return tasks;
  }

  function drop({ id, fencingToken }: Lease): void {
    if (held.get(id)?.fencingToken === fencingToken) held.delete(id);
  }

  async function renew(): Promise<void> {
    const leases = [...held.values()];
    if (leases.length === 0) return;
    const { until } = takeTime();
    const renewed = await renewLeases(database, leases, until);
    for (const lease of leases) if (renewed.has(lease.id)) lease.until = until;
  }

  const renewing = setInterval(() => {
    renewal = renewal.then(renew).catch(dependencies.onTrouble);
  }, renewEveryMs);

  return {
    drop,
    async claimDue(limit) {
      const time = takeTime();
      return hold(await claimDueTasks(database, { ...time, limit }), time);
    },
    async claim(taskIds) {
      const time = takeTime();
      return hold(await claimTasks(database, taskIds, time), time);
    },
    giveBack(lease, dueAt) {
      drop(lease);
      returns.tell({ id: lease.id, fencingToken: lease.fencingToken, dueAt });
    },
    async close() {
      clearInterval(renewing);
      await renewal;
      await returns.drain();
    },
  };
}

/** Together, because most looks at a task change nothing but the time of the next one. */
function createReturns({ database, logger }: Pick<LeaseDependencies, "database" | "logger">) {
  return createCoalescer<Lease & { dueAt: Date }, void>({
    gather: (hurry) => wait(returnAfterMs, undefined, { signal: hurry }).catch(() => {}),
    async run(leases) {
      await returnLeases(database, leases);
      return [];
    },
    batchMax: Number.POSITIVE_INFINITY,
    waitingMax: Number.POSITIVE_INFINITY,
    // The leases run out, and the tasks are claimed then.
    onTrouble: (error) => logger.warn({ error }, "task leases could not be returned"),
  });
}
