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

test("each process is told apart, and what the database says is told once", () => {
  const text = presentMetrics(joinMetrics([collect(11, 1), collect(12, 2)]), "text");
  expect(text).toContain('sluice_job_failures_total{scheduled_job="sweep",process="11"} 1\n');
  expect(text).toContain('sluice_job_failures_total{scheduled_job="sweep",process="12"} 2\n');
  expect(text.match(/^sluice_tasks_open\{.*$/gm)).toEqual(['sluice_tasks_open{state="queued"} 7']);
});

test("where no process answers there is nothing to tell", () => {
  expect(joinMetrics([])).toEqual([]);
});
