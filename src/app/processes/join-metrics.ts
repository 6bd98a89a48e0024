import type { CollectedMetric } from "../../platform/observability/metrics.ts";

export type ProcessMetrics = { processId: number; metrics: readonly CollectedMetric[] };

/**
 * Joins the metrics of all processes with a process label: a replaced process ends its series instead of lowering a sum.
 * Shared readings of the database appear once.
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
