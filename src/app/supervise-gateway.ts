import type { Clock } from "../lib/clock.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import { createMemoryCounters } from "../platform/counters/memory-counters.ts";
import { databaseLimits } from "../platform/database/database-limits.ts";
import { locateLogSpool } from "../platform/database/embedded/cluster-directory.ts";
import { openEmbeddedPostgres } from "../platform/database/embedded/embedded-postgres.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import type { Logger } from "../platform/observability/logger.ts";
import { type MetricsServer, serveMetrics } from "../platform/observability/serve-metrics.ts";
import { type Supervisor, superviseProcesses } from "./processes/supervise-processes.ts";
import type { Welcome } from "./start-gateway.ts";

export type SupervisedGateway = {
  /** What its processes have to say, once all of them serve; `null` where one could not, which has said why. */
  ready: Promise<Welcome | null>;
  /** Replaces the processes one after another by new ones, which read the settings anew. */
  roll(settings: Settings): void;
  /** Lets all processes finish, then stops the embedded database. */
  close(options: { delayMs: number }): Promise<void>;
};

type SupervisionOptions = {
  settings: Settings;
  group: string;
  clock: Clock;
  logger: Logger;
  onProgress(sentence: string): void;
  onLost(error: Error): void;
};

/** What is the supervisor's own: the processes that start afterwards could not have another. */
const fixedSettings = [
  "host",
  "port",
  "data_dir",
  "database_url",
  "wal_archive",
  "metrics_host",
  "metrics_port",
] as const;

/** For commands and whoever else connects, beside the processes of which one more is there in a roll. */
const spareConnections = 50;
const connectionsMin = 200;

/** More than a process takes at the most to end by itself. */
const patienceMs = 10_000;

/** Has what must be there once (the embedded database, the counters, mails that are not sent), and the processes that serve. */
export async function superviseGateway(options: SupervisionOptions): Promise<SupervisedGateway> {
  const { settings, group, clock, logger, onProgress, onLost } = options;
  const database =
    settings.database_url === undefined
      ? await openEmbeddedPostgres({
          ...{ dataDir: settings.data_dir, logSpool: locateLogSpool(settings), purpose: "gateway", onProgress, onLost },
          serverSettings: { max_connections: String(countConnections(settings)) },
        })
      : null;
  const counters = createMemoryCounters({ clock });
  const supervisor = superviseProcesses({ count: settings.processes, group, counters, clock, logger, onLost });
  const door = await openDoor(settings, supervisor);
  const metricsPort = door?.port ?? null;
  return {
    ready: supervisor.ready.then((welcome) => welcome && { ...welcome, metricsPort }),
    roll(next) {
      const changed = fixedSettings.filter((name) => next[name] !== settings[name]);
      if (changed.length > 0) {
        throw new OperatorError(`A roll cannot change ${changed.join(", ")}.`, "Stop the gateway and start it again.");
      }
      supervisor.roll(next.processes);
    },
    async close({ delayMs }) {
      const timeoutMs = 2 * delayMs + settings.shutdown_timeout_ms + databaseLimits.abandonAfterMs + patienceMs;
      await supervisor.stop({ delayMs, timeoutMs });
      await door?.close();
      await database?.close();
    },
  };
}

function openDoor(
  { metrics_host: host, metrics_port: port }: Settings,
  { collectMetrics: collect }: Pick<Supervisor, "collectMetrics">,
): Promise<MetricsServer> | null {
  return port === undefined ? null : serveMetrics({ host, port, collect });
}

function countConnections({ processes, database_connections }: Settings): number {
  return Math.max(connectionsMin, (processes + 1) * database_connections + spareConnections);
}
