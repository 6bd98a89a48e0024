import { setTimeout as wait } from "node:timers/promises";
import { waitUntil } from "../../test/harness/wait-until.ts";
import { readBooks } from "./books.ts";
import { type Callers, startCallers } from "./callers.ts";
import { waitForReady } from "./chaos-node.ts";
import type { Evidence } from "./check-books.ts";
import { draw } from "./draw.ts";
import { createInjector, drawFaults, type Fault } from "./fault-table.ts";
import { openWorld, type World } from "./open-world.ts";
import { operationKinds } from "./operation.ts";

export type ChaosOptions = {
  seed: number;
  faultsCount: number;
  nodesCount: number;
  callersCount: number;
  onFault(fault: Fault): void;
};

export type ChaosRun = {
  evidence: Evidence;
  faults: readonly Fault[];
  tookMs: number;
  longestGapMs: number;
  /** The gateways' log lines above warnings, for debugging. */
  log: string;
};

const restMs = 60;
const betweenFaultsMs = { least: 200, more: 400 };
/** How many answers are requested again at the end, at most. */
const repeatsMax = 1_000;
const lookAgainMs = 100;
const drainMsMax = 90_000;

/**
 * Lets callers use several gateways while faults are injected, then lets all operations finish, and returns the records
 * of all sides.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosRun> {
  const { seed, faultsCount, nodesCount, callersCount } = options;
  const startedAt = performance.now();
  await using world = await openWorld({ seed, nodesCount });
  const injector = createInjector(world);
  const faults = drawFaults(seed, { count: faultsCount, nodesCount });
  const callers = startCallers({
    seed,
    urls: world.nodes.map(({ url }) => url),
    headers: world.customers.map(({ headers }) => headers),
    callersCount,
    restMs,
  });
  try {
    for (const fault of faults) {
      await wait(betweenFaultsMs.least + draw(seed, `rest before ${fault.number}`, betweenFaultsMs.more));
      options.onFault(fault);
      await injector.inject(fault);
    }
    await injector.recovered();
    const longestGapMs = callers.longestGapMs();
    await waitUntil("something of each kind to end well", () => hasAllKinds(callers));
    callers.stop();
    world.upstream.calm();
    world.receiver.calm();
    await endAll(world);
    await finish(world, callers);
    const repeats = await repeat(callers);
    const evidence = {
      ...{ journal: callers.journal, repeats, books: await readBooks(world) },
      ...{ chats: world.upstream.chats, queue: world.upstream.queue, events: world.receiver.events },
      crashes: world.nodes.flatMap(({ crashes }) => crashes),
      accountIds: world.customers.map(({ accountId }) => accountId),
    };
    const log = world.nodes.map((node) => node.log()).join("");
    return { evidence, faults, longestGapMs, log, tookMs: performance.now() - startedAt };
  } finally {
    await injector.recovered().catch(() => {});
    await callers.close();
  }
}

/** Otherwise a short run may lack some kinds by chance. */
function hasAllKinds({ journal }: Callers): boolean {
  const ended = journal.filter(({ ending }) => ending.kind === "answered" || ending.kind === "task");
  return operationKinds.every((kind) => ended.some(({ operation }) => operation.kind === kind));
}

/**
 * Kills all gateways at once, so that every claim belongs to a dead process; skips up to an hour of lease and retry
 * times by moving the stored timestamps; and starts the gateways again.
 */
async function endAll(world: World): Promise<void> {
  for (const node of world.nodes) node.signal("SIGKILL");
  await Promise.all(world.nodes.map((node) => node.ended()));
  // Statements of the dead may still be running, and must not commit after the timestamps were moved.
  world.databaseGate.cut();
  await waitUntil("the sessions of the dead to end", async () => {
    const sessions = await world.query(`
      select pg_terminate_backend(pid) from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid()`);
    return sessions.length === 0;
  });
  // Millisecond precision, like the gateways' own timestamps.
  const now = "date_trunc('milliseconds', now())";
  for (const statement of [
    `update idempotency_keys set lease_until = ${now} where state = 'running'`,
    `update task_leases set next_poll_at = ${now}`,
    `update tasks set deadline_at = ${now} where phase in ('submitting', 'unknown')`,
    `update deliveries set due_at = ${now}, lease_id = null where state = 'pending'`,
    `update holds set expires_at = ${now} where state = 'open' and cause_kind <> 'task'`,
    `update scheduled_jobs set due_at = ${now}, leased_until = null where name = 'sweep-ledger'`,
  ]) {
    await world.query(statement);
  }
  for (const node of world.nodes) node.start();
  await waitForReady(world.nodes);
}

/** Waits until every started operation has ended, up to a limit: the checker reports what is missing. */
async function finish({ query, receiver }: World, callers: Callers): Promise<void> {
  const isOver = async (): Promise<boolean> => {
    await wait(lookAgainMs);
    if (callers.countOpen() > 0) return false;
    const taken = new Set(receiver.events.filter(({ isTaken }) => isTaken).map(({ taskId }) => taskId));
    const isTold = callers.journal.every(({ taskIds }) => [...taskIds].every((id) => taken.has(id)));
    if (!isTold) await query("update deliveries set due_at = now() where state = 'pending' and lease_id is null");
    const [open] = await query("select count(*)::int as count from holds where state = 'open'");
    return isTold && open?.count === 0;
  };
  await waitUntil("everything to be over", isOver, drainMsMax).catch(() => {});
}

/** Repeats answered operations that have a key; of very many only some, first those that were sent several times. */
async function repeat(callers: Callers): Promise<Evidence["repeats"]> {
  const kept = callers.journal.filter(
    ({ operation, ending }) => operation.kind.startsWith("keyed") && "text" in ending && ending.kind !== "refused",
  );
  const chosen = kept.toSorted((a, b) => b.sent - a.sent).slice(0, repeatsMax);
  const repeats: Evidence["repeats"][number][] = [];
  for (const { operation } of chosen) {
    const { text, isReplay } = await callers.send(operation);
    repeats.push({ operation: operation.number, text, isReplay });
  }
  return repeats;
}
