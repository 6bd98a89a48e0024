import { setTimeout as wait } from "node:timers/promises";
import { ValueType } from "@opentelemetry/api";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { AggregationTemporality, type DataPoint, DataPointType, type MetricData } from "@opentelemetry/sdk-metrics";
import type { Clock } from "../../lib/clock.ts";
import type { MetricEntry } from "./metric-table.ts";
import type { CollectedMetric, HistogramSample, MetricRegistry, ValueSample } from "./metrics.ts";

type MetricExportOptions = {
  metrics: Pick<MetricRegistry, "collect">;
  /** The collector's base URL, without `/v1/metrics`. Set by the operator, so no SSRF guard. */
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  /** Resource attributes such as `service.name`. */
  resource: Record<string, string>;
  intervalMs: number;
  clock: Clock;
  /** Called once when exports start to fail; `onRecovery` once when they succeed again. */
  onTrouble(error: unknown): void;
  onRecovery(): void;
};

export type MetricExport = {
  /** Exports a last time, with a timeout. */
  close(): Promise<void>;
};

/** Includes the exporter's retries. */
const exportTimeoutMs = 5000;
const closeTimeoutMs = 2000;

/**
 * Exports the metrics of `/metrics` by OTLP. Values are cumulative, so a failed export loses nothing: the next one
 * contains it.
 */
export function exportMetrics(options: MetricExportOptions): MetricExport {
  const { metrics, endpoint, headers, intervalMs, clock, onTrouble, onRecovery } = options;
  const otlp = new OTLPMetricExporter({ url: `${endpoint}/v1/metrics`, headers, timeoutMillis: exportTimeoutMs });
  const resource = resourceFromAttributes(options.resource);
  const startedAt = clock.now();
  let isInTrouble = false;
  let sending: Promise<void> | null = null;

  function send(): Promise<void> {
    const span = { startTime: toTime(startedAt), endTime: toTime(clock.now()) };
    const exported = metrics.collect().flatMap((metric) => presentMetric(metric, span));
    return new Promise((resolve) => {
      otlp.export({ resource, scopeMetrics: [{ scope: { name: "sluice" }, metrics: exported }] }, ({ code, error }) => {
        // The SDK's code for success.
        const hasFailed = code !== 0;
        if (hasFailed && !isInTrouble) onTrouble(error);
        if (!hasFailed && isInTrouble) onRecovery();
        isInTrouble = hasFailed;
        resolve();
      });
    });
  }

  const timer = setInterval(() => {
    // One export at a time.
    sending ??= send().finally(() => {
      sending = null;
    });
  }, intervalMs);
  timer.unref();

  return {
    async close() {
      clearInterval(timer);
      const ended = new AbortController();
      const { signal } = ended;
      const late = wait(closeTimeoutMs, undefined, { signal }).catch(() => {});
      await Promise.race([(sending ?? Promise.resolve()).then(send), late]);
      ended.abort();
    },
  };
}

type TimeSpan = Pick<DataPoint<unknown>, "startTime" | "endTime">;

function toTime(moment: Date): [seconds: number, nanoseconds: number] {
  const ms = moment.getTime();
  return [Math.floor(ms / 1000), (ms % 1000) * 1_000_000];
}

/** A metric in the SDK's form; empty without values. */
function presentMetric({ entry, samples }: CollectedMetric, span: TimeSpan): MetricData[] {
  const common = {
    descriptor: { name: entry.name, description: entry.help, unit: "", valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  if (entry.kind === "histogram") {
    const dataPoints = samples.flatMap((sample) => ("counts" in sample ? [presentHistogram(entry, sample, span)] : []));
    return dataPoints.length === 0 ? [] : [{ ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints }];
  }
  const dataPoints = samples.flatMap((sample) => ("value" in sample ? presentValue(entry, sample, span) : []));
  if (dataPoints.length === 0) return [];
  return entry.kind === "gauge"
    ? [{ ...common, dataPointType: DataPointType.GAUGE, dataPoints }]
    : [{ ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }];
}

function presentHistogram(entry: MetricEntry, { labels, counts, count, sum }: HistogramSample, span: TimeSpan) {
  const buckets = { boundaries: [...(entry.buckets ?? [])], counts: [...counts] };
  return { ...span, attributes: nameLabels(entry, labels), value: { buckets, count, sum } };
}

/** Omits NaN: the value is unknown. */
function presentValue(entry: MetricEntry, { labels, value }: ValueSample, span: TimeSpan): DataPoint<number>[] {
  return Number.isNaN(value) ? [] : [{ ...span, attributes: nameLabels(entry, labels), value }];
}

function nameLabels(entry: MetricEntry, labels: readonly string[]): Record<string, string> {
  return Object.fromEntries(entry.labels.map(({ name }, index) => [name, labels[index] ?? ""]));
}
