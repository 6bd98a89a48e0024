import type { MetricEntry } from "./metric-table.ts";
import type { CollectedMetric, HistogramSample, ValueSample } from "./metrics.ts";

/** The two Prometheus formats. They differ in counter names and the end marker. */
export const metricForms = {
  text: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
} as const;

export type MetricForm = keyof typeof metricForms;

/** Content negotiation; plain text is the default. */
export function chooseForm(accept: string | undefined): MetricForm {
  const weigh = (type: string): number => {
    const ranges = (accept ?? "").split(",").filter((range) => range.trim().toLowerCase().startsWith(type));
    return Math.max(0, ...ranges.map((range) => Number(/;\s*q=([\d.]+)/i.exec(range)?.[1] ?? 1)));
  };
  const wanted = weigh("application/openmetrics-text");
  return wanted > 0 && wanted >= weigh("text/plain") ? "openmetrics" : "text";
}

export function presentMetrics(collected: readonly CollectedMetric[], form: MetricForm): string {
  const parts = collected.map(({ entry, samples }) => presentMetric(entry, samples, form));
  return `${parts.join("")}${form === "openmetrics" ? "# EOF\n" : ""}`;
}

function presentMetric(entry: MetricEntry, samples: CollectedMetric["samples"], form: MetricForm): string {
  const { name, kind, help } = entry;
  const family = form === "openmetrics" && kind === "counter" ? name.replace(/_total$/, "") : name;
  const head = `# HELP ${family} ${escapeHelp(help, form)}\n# TYPE ${family} ${kind}\n`;
  return head + samples.map((sample) => presentSample(entry, sample)).join("");
}

function presentSample(entry: MetricEntry, sample: ValueSample | HistogramSample): string {
  const { name } = entry;
  const labels = entry.labels.map((label, index) => presentLabel(label.name, sample.labels[index] ?? ""));
  if ("value" in sample) return `${name}${enclose(labels)} ${presentNumber(sample.value)}\n`;
  let reached = 0;
  const lines = sample.counts.map((count, index) => {
    reached += count;
    const bound = presentNumber(entry.buckets?.[index] ?? Number.POSITIVE_INFINITY);
    return `${name}_bucket${enclose([...labels, presentLabel("le", bound)])} ${reached}\n`;
  });
  const totals = `${name}_sum${enclose(labels)} ${presentNumber(sample.sum)}\n${name}_count${enclose(labels)} ${sample.count}\n`;
  return lines.join("") + totals;
}

function enclose(labels: readonly string[]): string {
  return labels.length === 0 ? "" : `{${labels.join(",")}}`;
}

function presentLabel(name: string, value: string): string {
  return `${name}="${value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"')}"`;
}

function escapeHelp(help: string, form: MetricForm): string {
  const escaped = help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return form === "openmetrics" ? escaped.replaceAll('"', '\\"') : escaped;
}

function presentNumber(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);
}
