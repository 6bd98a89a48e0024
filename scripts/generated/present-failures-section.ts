import { type CircuitEffect, failureTable } from "../../src/providers/failures/failure-table.ts";

const [begin, end] = ["<!-- failures: written by `npm run generate` -->", "<!-- end of failures -->"];

const fixers = { request: "the customer", account: "you", service: "the upstream" } as const;

/** Fills the table of failures into the operators' guide. */
export function fillFailuresSection(page: string): string {
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`The page needs ${begin} and ${end}.`);
  return `${before}${begin}\n\n${presentTable()}\n\n${end}${after}`;
}

function presentTable(): string {
  const rows = Object.entries(failureTable).map(([kind, { explains, fault, circuit, code }]) => {
    const next = fault === "request" ? "no" : "yes";
    return `| \`${kind}\` | ${explains} | ${fixers[fault]} | ${next} | ${presentCircuit(circuit)} | \`${code}\` |`;
  });
  return [
    "| failure | what happened | who can fix it | next target | circuit | customers get |",
    "|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

function presentCircuit(effect: CircuitEffect): string {
  switch (effect.opens) {
    case "never":
      return "stays closed";
    case "never-but-noted":
      return "stays closed, `upstream list` shows it";
    case "when-frequent":
      return "opens when it is frequent";
    case "at-once":
      return `opens for ${effect.openMs / 1000} s, ${effect.scope === "key" ? "for all models of the key" : "for the model with this key"}`;
  }
}
