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
  /** Resolves when all processes serve; `null` if one failed to start and logged the reason. */
  ready: Promise<Welcome | null>;
  /** Rolling restart with reloaded settings. */
  roll(settings: Settings): void;
  /** Stops all processes gracefully, then the embedded database. */
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

/** Settings of the supervisor itself, which a roll cannot change. */
const fixedSettings = [
  "host",
  "port",
  "data_dir",
  "database_url",
  "wal_archive",
  "metrics_host",
  "metrics_port",
] as const;

/** Spare connections for commands and the extra process of a roll. */
const spareConnections = 50;
const connectionsMin = 200;

/** Longer than a process takes to stop by itself. */
const patienceMs = 10_000;

/** Owns what exists once (embedded database, counters, outbox) and the serving processes. */
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
        throw new OperatorError(`A roll cannot change ${changed.join(", ")}.`, "Restart the gateway.");
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
