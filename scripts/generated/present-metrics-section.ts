import { type MetricEntry, metricAreas, metricTable } from "../../src/platform/observability/metric-table.ts";
import { fillSection } from "./fill-section.ts";

/** Fills the table of metrics into the operators' guide. */
export function fillMetricsSection(page: string): string {
  return fillSection(page, "metrics", presentTables());
}

function presentTables(): string {
  const entries: MetricEntry[] = Object.values(metricTable);
  return metricAreas
    .map((area) => {
      const rows = entries.filter((entry) => entry.area === area).map(presentRow);
      return [
        `### ${area[0]?.toUpperCase()}${area.slice(1)}`,
        "",
        "| metric | kind | labels | meaning |",
        "|---|---|---|---|",
        ...rows,
        "",
      ].join("\n");
    })
    .join("\n");
}

function presentRow({ name, kind, labels, help, isShared }: MetricEntry): string {
  const named = labels.map((label) =>
    label.values === undefined ? `\`${label.name}\`` : `\`${label.name}\` (${label.values.join(", ")})`,
  );
  const cells = [
    `\`${name}\``,
    kind,
    named.join("; "),
    isShared === true ? `${help} The same on every gateway.` : help,
  ];
  return `| ${cells.join(" | ")} |`;
}
