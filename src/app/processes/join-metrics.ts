import type { CollectedMetric } from "../../platform/observability/metrics.ts";

/** What one process of a gateway collected. */
export type ProcessMetrics = { processId: number; metrics: readonly CollectedMetric[] };

/**
 * The metrics of all processes: each with a label more, so that a process that is replaced is a series that ends, not a sum
 * that falls. What all of them read in the database is told once.
 */
export function joinMetrics(collected: readonly ProcessMetrics[]): CollectedMetric[] {
  const [first] = collected;
  return (first?.metrics ?? []).map(({ entry, samples }) => {
    if (entry.isShared) return { entry, samples };
    return {
      entry: { ...entry, labels: [...entry.labels, { name: "process" }] },
      samples: collected.flatMap(({ processId, metrics }) => {
        const own = metrics.find((metric) => metric.entry.name === entry.name)?.samples ?? [];
        return own.map((sample) => ({ ...sample, labels: [...sample.labels, String(processId)] }));
      }),
    };
  });
}
