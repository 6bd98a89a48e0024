import { expect, test } from "vitest";
import { createMetrics } from "../../platform/observability/metrics.ts";
import { presentMetrics } from "../../platform/observability/present-metrics.ts";
import { joinMetrics } from "./join-metrics.ts";

function collect(processId: number, jobs: number) {
  const registry = createMetrics();
  registry.jobFailures.at("sweep").add(jobs);
  registry.openTasks.observe(() => [[7, "queued"]]);
  return { processId, metrics: registry.collect() };
}

test("process metrics get a process label, and database metrics appear once", () => {
  const text = presentMetrics(joinMetrics([collect(11, 1), collect(12, 2)]), "text");
  expect(text).toContain('sluice_job_failures_total{scheduled_job="sweep",process="11"} 1\n');
  expect(text).toContain('sluice_job_failures_total{scheduled_job="sweep",process="12"} 2\n');
  expect(text.match(/^sluice_tasks_open\{.*$/gm)).toEqual(['sluice_tasks_open{state="queued"} 7']);
});

test("without a responding process, the output is empty", () => {
  expect(joinMetrics([])).toEqual([]);
});
