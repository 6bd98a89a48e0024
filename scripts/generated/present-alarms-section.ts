import { getRule, listRuleNames } from "../../src/features/alarms/alarm-rules.ts";
import { fillSection } from "./fill-section.ts";

/** Fills the table of alarm rules into the operators' page about alarms. */
export function fillAlarmsSection(page: string): string {
  const rows = listRuleNames().map((name) => {
    const { severity, reads, isMetBy, threshold, unit, runBook } = getRule(name);
    const anchor = runBook.replace(/^alarms\.md/, "");
    return `| [\`${name}\`](${anchor}) | ${severity} | ${isMetBy} ${threshold} ${unit} | ${reads} |`;
  });
  return fillSection(
    page,
    "alarm rules",
    ["| rule and what to do | severity | default | reads |", "|---|---|---|---|", ...rows, ""].join("\n"),
  );
}
