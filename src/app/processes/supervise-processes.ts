import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../../lib/clock.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import { serveCounters } from "../../platform/counters/serve-counters.ts";
import { createMailOutbox } from "../../platform/mail/mail-outbox.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { CollectedMetric } from "../../platform/observability/metrics.ts";
import type { Welcome } from "../start-gateway.ts";
import { decideNext, type Member } from "./decide-next.ts";
import { type ForkedProcess, forkProcess } from "./fork-process.ts";
import { joinMetrics, type ProcessMetrics } from "./join-metrics.ts";
import type { ProcessMessage } from "./process-messages.ts";
import { createRestartDelays } from "./restart-delays.ts";
import { shareConnections } from "./share-connections.ts";

type SupervisorOptions = {
  count: number;
  /** The gateway's id among others on its database. */
  group: string;
  counters: Counters;
  clock: Clock;
  logger: Logger;
  /** Called when processes keep dying. */
  onLost(error: Error): void;
};

export type Supervisor = {
  /** Resolves when all serve; `null` if one failed to start and logged the reason. */
  ready: Promise<Welcome | null>;
  /** Metrics of all processes that respond in time. */
  collectMetrics(): Promise<CollectedMetric[]>;
  /** Rolling restart to this number of processes. */
  roll(count: number): void;
  /** Stops all processes gracefully, with a timeout. */
  stop(options: { delayMs: number; timeoutMs: number }): Promise<void>;
};

type Process = Member & {
  forked: ForkedProcess | null;
  welcome: Welcome | null;
  connections: number | null;
  shed: number;
  collecting: { number: number; resolve(metrics: readonly CollectedMetric[]): void } | null;
};

/** How long a replaced process serves its open connections; each response closes its connection. */
const leaveDelayMs = 1000;
const shareEveryMs = 1000;
/** Slightly more than a process's own limit. */
const collectMsMax = 900;

/** Starts and supervises the processes of a gateway. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one set of processes; its functions share it.
export function superviseProcesses(options: SupervisorOptions): Supervisor {
  const { group, counters, clock, logger, onLost } = options;
  const outbox = createMailOutbox();
  const delays = createRestartDelays();
  const processes = new Set<Process>();
  const ready = Promise.withResolvers<Welcome | null>();
  const stopping = new AbortController();
  let { count } = options;
  let generation = 1;
  let isReady = false;
  let lead: Process | undefined;
  let collections = 0;
  let collecting: Promise<CollectedMetric[]> | null = null;

  function look(): void {
    if (stopping.signal.aborted) return;
    const next = decideNext([...processes], { count, generation });
    if (next.kind === "start") for (let number = 0; number < next.count; number += 1) void start(0);
    if (next.kind === "leave") leave(next.member);
    const serving = [...processes].filter(({ state }) => state === "serving");
    appoint(serving[0]);
    if (isReady || serving.length < count) return;
    isReady = true;
    ready.resolve(serving.find(({ welcome }) => welcome?.firstRun != null)?.welcome ?? serving[0]?.welcome ?? null);
  }

  function appoint(one: Process | undefined): void {
    if (one === lead) return;
    lead = one;
    one?.forked?.tell({ kind: "lead" });
  }

  async function start(delayMs: number): Promise<void> {
    const one: Process = {
      ...{ state: "starting", generation, forked: null, welcome: null, connections: null, shed: 0, collecting: null },
    };
    processes.add(one);
    await wait(delayMs, undefined, { signal: stopping.signal }).catch(() => {});
    if (stopping.signal.aborted) {
      processes.delete(one);
      return;
    }
    const forked = forkProcess();
    one.forked = forked;
    serveCounters(counters, forked.counters);
    forked.onMessage((message) => hear(one, message));
    forked.tell({ kind: "begin", group, processes: count, mails: outbox.list() });
    bury(one, await forked.exited);
  }

  function hear(one: Process, message: ProcessMessage): void {
    if (message.kind === "connections") one.connections = message.count;
    if (message.kind === "collected" && one.collecting?.number === message.number) {
      one.collecting.resolve(message.metrics);
    }
    if (message.kind === "mail") {
      outbox.keep(message.mail);
      for (const { forked } of processes) forked?.tell({ kind: "mails", mails: outbox.list() });
    }
    if (message.kind !== "ready" || one.state !== "starting") return;
    one.state = "serving";
    one.welcome = message.welcome;
    look();
  }

  async function collectFrom(one: Process): Promise<ProcessMetrics[]> {
    collections += 1;
    const number = collections;
    const { promise, resolve } = Promise.withResolvers<readonly CollectedMetric[]>();
    one.collecting = { number, resolve };
    one.forked?.tell({ kind: "collect", number });
    const metrics = await Promise.race([promise, wait(collectMsMax, null, { ref: false })]);
    return metrics === null || one.forked === null ? [] : [{ processId: one.forked.processId, metrics }];
  }

  async function collectFromAll(): Promise<CollectedMetric[]> {
    const serving = [...processes].filter(({ state }) => state === "serving");
    return joinMetrics((await Promise.all(serving.map(collectFrom))).flat());
  }

  function leave(one: Process): void {
    one.state = "leaving";
    one.forked?.tell({ kind: "stop", delayMs: leaveDelayMs, alone: true });
  }

  function bury(one: Process, { code, signal }: { code: number | null; signal: string | null }): void {
    processes.delete(one);
    if (stopping.signal.aborted) return;
    if (one.state === "leaving") {
      if (![...processes].some((other) => other.generation < generation || other.state !== "serving"))
        logger.info({ processes: processes.size }, "roll finished");
      look();
      return;
    }
    const facts = { process_id: one.forked?.processId, exit_code: code, signal };
    appoint([...processes].find(({ state }) => state === "serving"));
    if (!isReady) {
      ready.resolve(null);
    } else if (one.state === "starting" && isRolling()) {
      logger.error(facts, "process failed to start, roll aborted");
      for (const other of processes) other.generation = generation;
    } else {
      replace(facts);
    }
  }

  function isRolling(): boolean {
    return [...processes].filter(({ state }) => state === "serving").length >= count;
  }

  function replace(facts: Record<string, unknown>): void {
    const delayMs = delays.note(clock.monotonicMs());
    if (delayMs === null) {
      onLost(new Error("The gateway's processes keep dying. See the log for the reason."));
      return;
    }
    logger.error({ ...facts, delay_ms: delayMs }, "process died, restart scheduled");
    void start(delayMs);
  }

  const sharing = setInterval(() => {
    const serving = [...processes].filter(({ state, connections }) => state === "serving" && connections !== null);
    if (serving.length < 2) return;
    for (const [index, shed] of shareConnections(serving.map(({ connections }) => connections ?? 0)).entries()) {
      const one = serving[index];
      if (one === undefined || (shed === 0 && one.shed === 0)) continue;
      one.shed = shed;
      one.forked?.tell({ kind: "shed", connections: shed });
    }
  }, shareEveryMs).unref();

  look();
  return {
    ready: ready.promise,
    collectMetrics() {
      // Concurrent scrapes share one collection.
      collecting ??= collectFromAll().finally(() => {
        collecting = null;
      });
      return collecting;
    },
    roll(wanted) {
      count = wanted;
      generation += 1;
      look();
    },
    async stop({ delayMs, timeoutMs }) {
      stopping.abort();
      clearInterval(sharing);
      const forked = [...processes].flatMap((one) => (one.forked === null ? [] : [one.forked]));
      for (const { tell } of forked) tell({ kind: "stop", delayMs, alone: false });
      const late = setTimeout(() => {
        for (const { kill } of forked) kill();
      }, timeoutMs);
      await Promise.all(forked.map(({ exited }) => exited));
      clearTimeout(late);
    },
  };
}
