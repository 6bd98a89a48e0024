import { deadlineSecondsMax, deadlineTable } from "../../src/features/tasks/task-deadline.ts";
import { fillSection } from "./fill-section.ts";

/** The media page of the customers' guide, with the table of deadlines between its two marks. */
export function fillDeadlinesSection(page: string): string {
  const rows = Object.entries(deadlineTable).map(
    ([type, { secondsMin, secondsUsual }]) => `| ${type} | ${secondsMin} | ${secondsUsual} | ${deadlineSecondsMax} |`,
  );
  return fillSection(
    page,
    "deadlines",
    ["| type | least | default | most |", "|---|---|---|---|", ...rows, ""].join("\n"),
  );
}
