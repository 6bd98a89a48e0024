import type { MetricEntry } from "../../src/platform/observability/metric-table.ts";

/** The labels that Prometheus adds to every series, and those of a histogram. */
const ownLabels = ["instance", "job"];
/** Prometheus' own series: whether a target could be scraped. */
const ownMetrics: readonly MetricEntry[] = [
  { name: "up", kind: "gauge", area: "process", help: "Whether it could be scraped.", labels: [] },
];

const keywords = /^(by|without|on|ignoring|group_left|group_right|offset|bool|and|or|unless|inf|nan)$/i;

type Selector = { metric: string; matchers: { label: string; operator: string; value: string }[] };

/** Returns an error for each metric, label and label value of a PromQL expression that is not in the table. */
export function listUnknownMetrics(expression: string, table: readonly MetricEntry[]): string[] {
  const selectors = listSelectors(expression);
  const complaints = selectors.flatMap((selector) => listUnknown(selector, [...table, ...ownMetrics]));
  const known = new Set(selectors.flatMap(({ metric }) => listLabels(metric, [...table, ...ownMetrics])));
  const grouped = [...expression.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g)].flatMap(([, labels = ""]) =>
    labels.split(",").map((label) => label.trim()),
  );
  return [...complaints, ...grouped.filter((label) => !known.has(label)).map((label) => `no metric has ${label}`)];
}

/** The names of metrics in an expression. */
export function listMetricNames(expression: string, table: readonly MetricEntry[]): string[] {
  return listSelectors(expression).flatMap(({ metric }) => findEntry(metric, table)?.name ?? []);
}

function listSelectors(expression: string): Selector[] {
  const selectors: Selector[] = [];
  const bare = expression.replaceAll(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, " ").replaceAll(/\[[^\]]*\]/g, " ");
  // A name before a parenthesis is a function; text in braces or quotes belongs to the name before it.
  for (const [, metric = "", call, braces = ""] of bare.matchAll(
    /(?<![\w:."$])([a-zA-Z_:][\w:]*)\s*(\()?(?:\{([^}]*)\})?/g,
  )) {
    if (call !== undefined || keywords.test(metric)) continue;
    const matchers = [...braces.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)].map(
      ([, label = "", operator = "", value = ""]) => ({ label, operator, value }),
    );
    selectors.push({ metric, matchers });
  }
  return selectors;
}

function findEntry(metric: string, table: readonly MetricEntry[]): MetricEntry | undefined {
  return table.find(({ name, kind }) =>
    kind === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`].includes(metric) : name === metric,
  );
}

function listLabels(metric: string, table: readonly MetricEntry[]): string[] {
  const labels = findEntry(metric, table)?.labels.map(({ name }) => name) ?? [];
  return [...labels, ...ownLabels, ...(metric.endsWith("_bucket") ? ["le"] : [])];
}

function listUnknown({ metric, matchers }: Selector, table: readonly MetricEntry[]): string[] {
  const entry = findEntry(metric, table);
  if (entry === undefined) return [`there is no metric ${metric}`];
  const labels = listLabels(metric, table);
  return matchers.flatMap(({ label, operator, value }) => {
    if (!labels.includes(label)) return [`${metric} has no label ${label}`];
    const values = entry.labels.find(({ name }) => name === label)?.values;
    const named = operator.endsWith("~") ? value.split("|") : [value];
    const strange = values === undefined ? [] : named.filter((one) => !values.includes(one));
    return strange.map((one) => `${label} of ${metric} is never ${one}`);
  });
}
