import { expect, test } from "vitest";
import { type MetricEntry, metricTable } from "./metric-table.ts";
import { createMetrics, type MetricRegistry } from "./metrics.ts";
import { chooseForm, presentMetrics } from "./present-metrics.ts";

const entries: MetricEntry[] = Object.values(metricTable);

function find(metrics: MetricRegistry, name: string) {
  return metrics.collect().find(({ entry }) => entry.name === name)?.samples ?? [];
}

function present(metrics: MetricRegistry, name: string, form: "text" | "openmetrics" = "text"): string[] {
  const one = metrics.collect().filter(({ entry }) => entry.name === name);
  return presentMetrics(one, form).split("\n").slice(2, -1);
}

test.each(entries)("$name follows Prometheus naming and has a help text", ({ name, kind, help, labels, buckets }) => {
  expect(name).toMatch(/^(sluice|process)_[a-z_]+$/);
  expect(name.endsWith("_total")).toBe(kind === "counter");
  expect(help).toMatch(/^[A-Z0-9].*\.$/);
  expect(name).not.toMatch(/_(ms|milliseconds|minutes|kb|mb|percent)(_|$)/);
  expect(buckets !== undefined).toBe(kind === "histogram");
  expect(buckets ?? []).toEqual([...(buckets ?? [])].sort((a, b) => a - b));
  const names = labels.map((label) => label.name);
  expect(new Set(names).size).toBe(names.length);
  for (const label of names) {
    expect(label).toMatch(/^[a-z_]+$/);
    // Reserved by Prometheus, or unbounded cardinality.
    expect(["le", "job", "instance", "account_id", "key_id", "path"]).not.toContain(label);
  }
});

test("no two metrics have the same name", () => {
  expect(new Set(entries.map(({ name }) => name)).size).toBe(entries.length);
});

test("known label values start at zero, others appear on first use", () => {
  const metrics = createMetrics();
  expect(find(metrics, "sluice_ledger_violations_total")).toEqual([{ labels: [], value: 0 }]);
  expect(find(metrics, "sluice_delivery_attempt_duration_seconds")).toHaveLength(8);
  expect(find(metrics, "sluice_tokens_total")).toEqual([]);
  metrics.tokens.at("small", "input").add(3);
  metrics.tokens.at("small", "input").add(4);
  metrics.tokens.at("small", "output").add(5);
  expect(find(metrics, "sluice_tokens_total")).toEqual([
    { labels: ["small", "input"], value: 7 },
    { labels: ["small", "output"], value: 5 },
  ]);
});

test("histogram buckets are cumulative", () => {
  const metrics = createMetrics();
  for (const size of [1, 2, 3, 512, 513]) metrics.ledgerBatchSize.at().add(size);
  const [sample] = find(metrics, "sluice_ledger_batch_operations");
  expect(sample).toEqual({ labels: [], counts: [1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1], count: 5, sum: 1031 });
  const lines = present(metrics, "sluice_ledger_batch_operations");
  expect(lines.slice(0, 3)).toEqual([
    'sluice_ledger_batch_operations_bucket{le="1"} 1',
    'sluice_ledger_batch_operations_bucket{le="2"} 2',
    'sluice_ledger_batch_operations_bucket{le="4"} 3',
  ]);
  expect(lines.slice(-4)).toEqual([
    'sluice_ledger_batch_operations_bucket{le="512"} 4',
    'sluice_ledger_batch_operations_bucket{le="+Inf"} 5',
    "sluice_ledger_batch_operations_sum 1031",
    "sluice_ledger_batch_operations_count 5",
  ]);
});

test("gauges are read on collection, and unknown values are NaN", () => {
  const metrics = createMetrics();
  let open = 1;
  metrics.requestsInProgress.observe(() => [[open]]);
  metrics.readingAge.observe(() => [[Number.NaN, "tasks"]]);
  open = 2;
  expect(present(metrics, "sluice_http_requests_in_progress")).toEqual(["sluice_http_requests_in_progress 2"]);
  expect(present(metrics, "sluice_database_reading_age_seconds")).toEqual([
    'sluice_database_reading_age_seconds{reading="tasks"} NaN',
  ]);
});

test("beyond 5000 label sets, a metric counts under `other`", () => {
  const metrics = createMetrics();
  for (let number = 0; number < 5100; number += 1) metrics.charges.at(`model-${number}`).add(1);
  const samples = find(metrics, "sluice_charges_total");
  expect(samples).toHaveLength(5001);
  expect(samples.at(-1)).toEqual({ labels: ["other"], value: 100 });
});

test("labels are escaped, and OpenMetrics drops the counter suffix and ends with EOF", () => {
  const metrics = createMetrics();
  metrics.charges.at('a"b\\c\nd').add(1);
  expect(present(metrics, "sluice_charges_total")).toEqual(['sluice_charges_total{model="a\\"b\\\\c\\nd"} 1']);
  const text = presentMetrics(
    metrics.collect().filter(({ entry }) => entry.name === "sluice_charges_total"),
    "openmetrics",
  );
  expect(text.split("\n")).toEqual([
    expect.stringMatching(/^# HELP sluice_charges [A-Z]/),
    "# TYPE sluice_charges counter",
    'sluice_charges_total{model="a\\"b\\\\c\\nd"} 1',
    "# EOF",
    "",
  ]);
});

test.each([
  [undefined, "text"],
  ["*/*", "text"],
  ["text/plain", "text"],
  ["application/openmetrics-text; version=1.0.0", "openmetrics"],
  // Sent by Prometheus 2 and 3.
  [
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
    "openmetrics",
  ],
  ["text/plain;version=0.0.4;q=0.5,application/openmetrics-text;q=0.2", "text"],
] as const)("Accept: %s selects %s", (accept, form) => {
  expect(chooseForm(accept)).toBe(form);
});
