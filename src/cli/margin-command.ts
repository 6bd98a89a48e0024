import { type MarginKey, type MarginLine, marginKeys, sumMargins } from "../features/costs/index.ts";
import { presentCsvLine } from "../lib/csv.ts";
import { nano, presentMoney } from "../lib/money.ts";
import type { Command } from "./command.ts";
import { createWrongValue, readTime } from "./option-values.ts";
import { presentRows } from "./present-rows.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const dayMs = 24 * 60 * 60 * 1000;
const defaultDays = 30;
const linesMax = 100_000;

const sumNames = ["calls", "without_cost", "revenue", "cost", "margin", "margin_percent"] as const;

export const marginCommand: Command = {
  name: "margin",
  summary: "Compare what customers were charged with what upstreams cost, by model, account, route or day.",
  options: {
    by: {
      placeholder: "names",
      description: `What to sum by: ${marginKeys.join(", ")}, comma-separated. Default: model.`,
    },
    from: {
      placeholder: "time",
      description: `Only work from this time on. Default: ${defaultDays} days before --to.`,
    },
    to: { placeholder: "time", description: "Only work before this time. Default: now." },
    format: { placeholder: "word", description: "table or csv. Default: table. Use --json for JSON." },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database, { currency }) => {
      const format = (["table", "csv"] as const).find((word) => word === (options.format ?? "table"));
      if (format === undefined) throw createWrongValue("format", "table or csv");
      const by = readKeys(options.by ?? "model");
      const to = (options.to === undefined ? null : readTime(options.to, "to")) ?? systemDependencies.clock.now();
      const asked = options.from === undefined ? null : readTime(options.from, "from");
      const from = asked ?? new Date(to.getTime() - defaultDays * dayMs);
      const lines = (await sumMargins(database, { from, to, by: new Set(by), limit: linesMax })).map(presentLine);
      const names = [...by, ...sumNames];
      const rows = lines.map((line) => names.map((name) => String(line[name] ?? "")));
      const text =
        format === "csv"
          ? [names, ...rows].map(presentCsvLine).join("").trimEnd()
          : presentRows(
              names.map((name) => name.replaceAll("_", " ").toUpperCase()),
              rows,
            );
      return { json: { currency, from: from.toISOString(), to: to.toISOString(), data: lines }, text };
    }),
};

function readKeys(text: string): MarginKey[] {
  const names = text.split(",");
  const keys = marginKeys.filter((key) => names.includes(key));
  if (keys.length !== names.length) throw createWrongValue("by", `some of ${marginKeys.join(", ")}, comma-separated`);
  return keys;
}

function presentLine({ revenue, cost, calls, unknown, ...keys }: MarginLine) {
  const margin = revenue - cost;
  return {
    ...keys,
    calls: Number(calls),
    without_cost: Number(unknown),
    revenue: presentMoney(revenue),
    cost: presentMoney(cost),
    margin: presentMoney(nano(margin)),
    margin_percent: revenue === 0n ? null : Number((margin * 1000n) / revenue) / 10,
  };
}
