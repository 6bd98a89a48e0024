import type { Clock } from "../lib/clock.ts";
import type { IdSource } from "../lib/ids.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import { resolveSecret } from "../platform/config/secrets.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import type { MetricExport } from "../platform/observability/export-metrics.ts";
import type { Logger } from "../platform/observability/logger.ts";
import type { MetricRegistry } from "../platform/observability/metrics.ts";
import { createSampler } from "../platform/tracing/create-sampler.ts";
import type { Tracing } from "../platform/tracing/span.ts";

type TelemetryOptions = {
  settings: Settings;
  metrics: MetricRegistry;
  clock: Clock;
  ids: IdSource;
  logger: Logger;
};

/** Traces and metrics for the operator's collector. */
type Telemetry = { tracing: Tracing | null; close(): Promise<void> };

type Collector = { endpoint: string; headers: Record<string, string>; resource: Record<string, string> };

/** Exports nothing without a collector. */
export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { settings, ids } = options;
  const { otlp_endpoint: endpoint } = settings;
  if (endpoint === undefined) return { tracing: null, close: async () => {} };
  const headers = Object.fromEntries(Object.entries(settings.otlp_headers ?? {}).map(readHeader));
  const resource = { "service.name": settings.otel_service_name, "service.instance.id": ids.next("node") };
  const collector = { endpoint, headers, resource };
  const [tracing, exported] = await Promise.all([openTraces(options, collector), openMetricExport(options, collector)]);
  return {
    tracing,
    async close() {
      await Promise.all([tracing.close(), exported?.close()]);
    },
  };
}

async function openTraces({ settings, clock, logger }: TelemetryOptions, collector: Collector): Promise<Tracing> {
  // Loaded on demand, for a fast start.
  const { openTracing } = await import("../platform/tracing/open-tracing.ts");
  return openTracing({
    ...{ ...collector, clock, delayMs: settings.traces_delay_ms },
    sampler: createSampler({
      ...{ name: settings.traces_sampler, ratio: settings.traces_sampler_arg, clock },
      // Not a secret; crypto randomness would take 1 % of a call.
      random: Math.random,
      callersPerSecondMax: settings.traces_callers_per_second_max,
    }),
    onLoss: (error, lost) => logger.warn({ error, lost }, "span export failed, spans dropped"),
    onRecovery: (lost) => logger.info({ lost }, "span export recovered"),
  });
}

async function openMetricExport(
  { settings, metrics, clock, logger }: TelemetryOptions,
  collector: Collector,
): Promise<MetricExport | null> {
  const { otlp_metrics_interval_ms: intervalMs } = settings;
  if (intervalMs === 0) return null;
  const { exportMetrics } = await import("../platform/observability/export-metrics.ts");
  return exportMetrics({
    ...{ ...collector, metrics, clock, intervalMs },
    onTrouble: (error) => logger.warn({ error }, "metric export failed"),
    onRecovery: () => logger.info("metric export recovered"),
  });
}

function readHeader([name, text]: [string, string]): [string, string] {
  const value = resolveSecret(text);
  if (value !== null) return [name, value];
  throw new OperatorError(
    `The variable of the header ${name} in otlp_headers is not set.`,
    `Set ${text.slice(2, -1)} in the environment, or remove the header from otlp_headers.`,
  );
}
