import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type MetricEntry, metricTable } from "../../src/platform/observability/metric-table.ts";
import { repositoryDir } from "../harness/repository-files.ts";
import { listMetricNames, listUnknownMetrics } from "./list-unknown-metrics.ts";

type Panel = { title: string; type: string; targets?: { expr: string }[] };
type Dashboard = { panels: Panel[]; templating: { list: { definition?: string }[] } };
type Alert = {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook_url: string };
};

const read = (path: string): string => readFileSync(join(repositoryDir, path), "utf8");
const table: MetricEntry[] = Object.values(metricTable);
const dashboard = JSON.parse(read("deploy/grafana/sluice.json")) as Dashboard;
const { groups } = parse(read("deploy/prometheus/alerts.yaml")) as { groups: { rules: Alert[] }[] };
const alerts = groups.flatMap(({ rules }) => rules);
const panels = dashboard.panels.filter(({ type }) => type !== "row");
const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const runBook = read("docs/operating/run-book.md");

describe("the dashboard", () => {
  test.each(panels)("has a panel $title that shows only existing metrics", ({ targets = [] }) => {
    expect(targets).not.toEqual([]);
    expect(targets.flatMap(({ expr }) => listUnknownMetrics(expr, table))).toEqual([]);
  });

  test("shows every metric", () => {
    const shown = new Set(expressions.flatMap((expr) => listMetricNames(expr, table)));
    expect(table.map(({ name }) => name).filter((name) => !shown.has(name))).toEqual([]);
  });

  test("selects jobs and gateways by an existing metric", () => {
    const definitions = dashboard.templating.list.flatMap(({ definition }) => definition ?? []);
    expect(definitions.every((text) => /^label_values\(sluice_build_info[,{]/.test(text))).toBe(true);
    expect(table.map(({ name }) => name)).toContain("sluice_build_info");
  });
});

describe("the alerts", () => {
  test.each(alerts)("$alert uses existing metrics and has a section in the run-book", (alert) => {
    expect(listUnknownMetrics(alert.expr, table)).toEqual([]);
    expect(alert.alert).toMatch(/^Sluice[A-Z][A-Za-z]+$/);
    expect(["page", "ticket"]).toContain(alert.labels.severity);
    expect(alert.annotations.runbook_url).toBe(`docs/operating/run-book.md#${alert.alert.toLowerCase()}`);
    const [, section = ""] = runBook.split(`\n## ${alert.alert}\n`);
    const [text = ""] = section.split("\n## ");
    for (const part of ["**Means:**", "**Look:**", "**Do:**"]) expect(text).toContain(part);
  });

  test("are the sections of the run-book, each once", () => {
    const sections = [...runBook.matchAll(/^## (.+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(alerts.map(({ alert }) => alert));
  });

  test("and the run-book name only existing metrics", () => {
    const named = [...runBook.matchAll(/\b(?:sluice|process)_[a-z_]+/g)].map(([name]) => name);
    const isKnown = (name: string): boolean =>
      table.some((entry) => name === entry.name || name === `${entry.name}_count`);
    expect(named.filter((name) => !isKnown(name))).toEqual([]);
  });
});

describe("an expression", () => {
  test.each([
    ["sum(rate(sluice_gone_total[5m]))", "there is no metric sluice_gone_total"],
    ["sluice_ledger_batch_operations > 1", "there is no metric sluice_ledger_batch_operations"],
    ['sluice_tokens_total{account="a"}', "sluice_tokens_total has no label account"],
    ['sluice_tokens_total{direction="sideways"}', "direction of sluice_tokens_total is never sideways"],
    ['sluice_tasks_open{state=~"queued|lost"}', "state of sluice_tasks_open is never lost"],
    ["sum by (key_id) (sluice_tokens_total)", "no metric has key_id"],
    ["sluice_ready == 0 and on (instance, planet) up == 1", "no metric has planet"],
  ])("%s is reported", (expression, complaint) => {
    expect(listUnknownMetrics(expression, table)).toEqual([complaint]);
  });

  test.each([
    'histogram_quantile(0.95, sum by (le, model) (rate(sluice_time_to_first_token_seconds_bucket{model!="x"}[5m]))) > 1e3',
    'up{job="sluice"} == 0 unless sluice_ready offset 5m',
  ])("%s is valid", (expression) => {
    expect(listUnknownMetrics(expression, table)).toEqual([]);
  });
});
