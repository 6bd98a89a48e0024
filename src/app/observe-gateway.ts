import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { LiveCatalog } from "../features/catalog/index.ts";
import { sumOpenHolds } from "../features/ledger/index.ts";
import { countProviderTasks, readTaskLag } from "../features/tasks/index.ts";
import { readDeliveryLag } from "../features/webhooks/index.ts";
import type { Clock } from "../lib/clock.ts";
import { nano } from "../lib/money.ts";
import type { ChangeFeed } from "../platform/database/change-feed.ts";
import { type Database, readBriefly } from "../platform/database/database.ts";
import { toMetricAmount } from "../platform/observability/metric-amount.ts";
import { metricTable } from "../platform/observability/metric-table.ts";
import type { CollectedMetric, MetricRegistry } from "../platform/observability/metrics.ts";
import { observeProcess } from "../platform/observability/observe-process.ts";
import { createSlowReading, type SlowReading } from "../platform/observability/slow-reading.ts";
import type { UpstreamHealth } from "../providers/upstream-health.ts";
import type { TimeKeeping } from "./keep-time.ts";

export type GatewayMetrics = {
  /** Collects all metrics within a second, even if the database hangs. */
  collect(): Promise<CollectedMetric[]>;
  close(): void;
};

type ObservedGateway = {
  metrics: MetricRegistry;
  clock: Clock;
  database: Database;
  feed: Pick<ChangeFeed, "isLive">;
  catalog: LiveCatalog;
  health: Pick<UpstreamHealth, "findState">;
  time: Pick<TimeKeeping, "aheadMs">;
  currency: string;
  /** Throws if the gateway cannot serve. */
  checkReady(): Promise<void>;
};

/** A little below the usual scrape interval. */
const readEveryMs = 14_000;
/** Query timeout. */
const readMsMax = 2000;
/** How long a scrape waits for the database before it returns the last values. */
const scrapeMsMax = 700;

/** Registers observed metrics. Nothing is queried between scrapes. */
export function observeGateway(observed: ObservedGateway): GatewayMetrics {
  const { metrics, time, feed, currency } = observed;
  const readings = observeDatabase(observed);
  let isReady = false;
  const stopProcess = observeProcess(metrics);
  observeCircuits(observed);
  const version = readVersion();
  metrics.build.observe(() => [[1, version, currency]]);
  metrics.clockOffset.observe(() => [[time.aheadMs() / 1000]]);
  metrics.changeFeedLive.observe(() => [[feed.isLive() ? 1 : 0]]);
  metrics.ready.observe(() => [[isReady ? 1 : 0]]);
  return {
    async collect() {
      const late = new AbortController();
      const deadline = wait(scrapeMsMax, false, { signal: late.signal, ref: false }).catch(() => false);
      const readiness = observed.checkReady().then(
        () => true,
        () => false,
      );
      const refreshed = Promise.all(readings.map((reading) => reading.refresh()));
      isReady = await Promise.race([readiness, deadline]);
      await Promise.race([refreshed, deadline]);
      late.abort();
      return metrics.collect();
    },
    close: stopProcess,
  };
}

/** One query each, one at a time. The last values are reported with their age. */
function observeDatabase({ metrics, clock, database }: ObservedGateway): SlowReading<unknown>[] {
  const readSlowly = <T>(read: (tx: Database) => Promise<T>): SlowReading<T> =>
    createSlowReading({ clock, everyMs: readEveryMs, read: () => readBriefly(database, readMsMax, read) });
  // Relative to the reading: due work may be done by the time of the scrape.
  const measureSince = (moment: Date | null): number =>
    moment === null ? 0 : Math.max(0, clock.now().getTime() - moment.getTime()) / 1000;
  const tasks = readSlowly(async (tx) => {
    const { oldestQueuedAt, oldestDueAt, ...counts } = await readTaskLag(tx);
    const upstreams = await countProviderTasks(tx);
    return { ...counts, upstreams, oldestSeconds: measureSince(oldestQueuedAt), lagSeconds: measureSince(oldestDueAt) };
  });
  const deliveries = readSlowly(async (tx) => {
    const { pending, oldestDueAt } = await readDeliveryLag(tx);
    return { pending, lagSeconds: measureSince(oldestDueAt) };
  });
  const holds = readSlowly(sumOpenHolds);
  metrics.openTasks.observe(() => [
    [tasks.last()?.queued ?? Number.NaN, "queued"],
    [tasks.last()?.processing ?? Number.NaN, "processing"],
  ]);
  metrics.upstreamTasks.observe(() =>
    (tasks.last()?.upstreams ?? []).flatMap(({ providerId, atWork, waiting }) => [
      [atWork, providerId, "at-work"] as const,
      [waiting, providerId, "waiting"] as const,
    ]),
  );
  metrics.oldestQueuedTask.observe(() => [[tasks.last()?.oldestSeconds ?? Number.NaN]]);
  metrics.taskLag.observe(() => [[tasks.last()?.lagSeconds ?? Number.NaN]]);
  metrics.pendingDeliveries.observe(() => [[deliveries.last()?.pending ?? Number.NaN]]);
  metrics.deliveryLag.observe(() => [[deliveries.last()?.lagSeconds ?? Number.NaN]]);
  const findHeld = (unit: string) => holds.last()?.find((total) => total.unit === unit);
  metrics.openHolds.observe(() =>
    metricTable.openHolds.labels[0].values.map((unit) => [
      holds.last() === null ? Number.NaN : (findHeld(unit)?.count ?? 0),
      unit,
    ]),
  );
  metrics.openHoldsAmount.observe(() => [
    [holds.last() === null ? Number.NaN : toMetricAmount(nano(findHeld("money")?.amount ?? 0n))],
  ]);
  metrics.readingAge.observe(() => [
    [tasks.ageMs() / 1000, "tasks"],
    [deliveries.ageMs() / 1000, "deliveries"],
    [holds.ageMs() / 1000, "holds"],
  ]);
  return [tasks, deliveries, holds];
}

/** Models may share a target and its circuit. */
function observeCircuits({ metrics, catalog, health }: ObservedGateway): void {
  const [, { values: states }] = metricTable.circuits.labels;
  metrics.circuits.observe(() => {
    const targets = [...catalog.current().targetsByModelId.values()].flat();
    const upstreams = new Map<string, Map<string, string>>();
    for (const target of targets) {
      const circuits = upstreams.get(target.providerId) ?? new Map<string, string>();
      circuits.set(`${target.upstreamModel}\n${target.keyNumber}`, health.findState(target));
      upstreams.set(target.providerId, circuits);
    }
    return [...upstreams].flatMap(([upstream, circuits]) =>
      states.map((state) => [[...circuits.values()].filter((one) => one === state).length, upstream, state] as const),
    );
  });
}

function readVersion(): string {
  const file = readFileSync(join(import.meta.dirname, "../../package.json"), "utf8");
  return (JSON.parse(file) as { version: string }).version;
}
