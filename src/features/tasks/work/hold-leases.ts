import { setTimeout as wait } from "node:timers/promises";
import { createCoalescer } from "../../../lib/coalescer.ts";
import { repeat } from "../../../lib/repeat.ts";
import {
  type Claimed,
  claimDueTasks,
  claimTasks,
  findNextDue,
  type Lease,
  type LeaseTime,
  releaseLeases,
  renewLeases,
} from "../lease-store.ts";
import type { ClaimedTask } from "../task.ts";
import type { WorkerDependencies } from "./worker-dependencies.ts";

/** How long a lease lasts unless it is renewed; after that, other workers claim the task. */
export const leaseMs = 12_000;
export const renewEveryMs = 3_000;
const releaseAfterMs = 20;

/** This process's leases, renewed while it runs. */
export type HeldLeases = {
  /** When the next open task is due, this process's own included; `null` if no task is open. */
  findNextDue(): Promise<Date | null>;
  claimDue(limit: number): Promise<ClaimedTask[]>;
  claim(taskIds: readonly string[]): Promise<ClaimedTask[]>;
  /** The step has ended, and the next due time is already written. */
  drop(lease: Lease): void;
  /** The step has ended; the next due time is written in a batch. */
  release(lease: Lease, dueAt: Date): void;
  /** Resolves when every released lease is written. */
  close(): Promise<void>;
};

/** `onTrouble` is called for queue errors, which are retried. */
export function holdLeases(dependencies: WorkerDependencies, onTrouble: (error: unknown) => void): HeldLeases {
  const { database, clock } = dependencies;
  const held = new Map<string, Lease & { until: Date }>();
  const releases = createReleases(dependencies);
  let renewal: Promise<void> = Promise.resolve();

  function takeTime(): LeaseTime {
    const now = clock.now();
    return { now, until: new Date(now.getTime() + leaseMs) };
  }

  function hold({ tasks, unreadable }: Claimed, { until }: LeaseTime): ClaimedTask[] {
    for (const error of unreadable) onTrouble(error);
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

  const stopRenewing = repeat(renewEveryMs, () => {
    renewal = renewal.then(renew).catch(onTrouble);
  });

  return {
    drop,
    findNextDue: () => findNextDue(database),
    async claimDue(limit) {
      const time = takeTime();
      return hold(await claimDueTasks(database, { ...time, limit }), time);
    },
    async claim(taskIds) {
      const time = takeTime();
      return hold(await claimTasks(database, taskIds, time), time);
    },
    release(lease, dueAt) {
      drop(lease);
      releases.tell({ id: lease.id, fencingToken: lease.fencingToken, dueAt });
    },
    async close() {
      stopRenewing();
      await renewal;
      await releases.drain();
    },
  };
}

/** Batched, because most polls change only the next due time. */
function createReleases({ database, clock, logger }: WorkerDependencies) {
  return createCoalescer<Lease & { dueAt: Date }, void>({
    gather: (hurry) => wait(releaseAfterMs, undefined, { signal: hurry }).catch(() => {}),
    async run(leases) {
      await releaseLeases(database, leases, clock.now());
      return [];
    },
    batchMax: Number.POSITIVE_INFINITY,
    waitingMax: Number.POSITIVE_INFINITY,
    // The leases expire, and other workers claim the tasks then.
    onTrouble: (error) => logger.warn({ error }, "task leases not released"),
  });
}
