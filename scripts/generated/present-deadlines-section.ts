import { deadlineSecondsMax, deadlineTable } from "../../src/features/tasks/task-deadline.ts";
import { fillSection } from "./fill-section.ts";

/** Fills the table of deadlines into the media page of the customers' guide. */
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
