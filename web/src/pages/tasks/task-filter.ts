import type { Task, TaskCounts, TaskFilter } from "../../api/fetch-tasks.ts";
import { addDays, isDay } from "../../parts/format/calendar-days.ts";
import { findDayEnd } from "../../parts/format/find-day-end.ts";
import { taskStatuses } from "../../parts/format/task-labels.ts";

export const taskTypes = ["image", "video", "avatar", "drama", "speech"] as const satisfies readonly Task["type"][];

export type TaskSearch = { [name in "view" | "status" | "type" | "model" | "q" | "from" | "to"]?: string };

/** Valid filters from the URL. Days start in the account's time zone. */
export function readFilter(search: TaskSearch, timeZone: string): TaskFilter {
  const status = taskStatuses.find((each) => each === search.status);
  const type = taskTypes.find((each) => each === search.type);
  const { model, q, from, to } = search;
  return {
    ...(status === undefined ? {} : { status }),
    ...(type === undefined ? {} : { type }),
    ...(model === undefined ? {} : { model }),
    ...(q === undefined ? {} : { q }),
    ...(from !== undefined && isDay(from) ? { from: findDayEnd(addDays(from, -1), timeZone).toISOString() } : {}),
    ...(to !== undefined && isDay(to) ? { to: findDayEnd(to, timeZone).toISOString() } : {}),
  };
}

/** Counts by status for the chosen type, and by type for the chosen status. */
export function sumCounts(counts: TaskCounts | undefined, { status, type }: Pick<TaskFilter, "status" | "type">) {
  const sum = (isMeant: (row: TaskCounts["data"][number]) => boolean): number =>
    (counts?.data ?? []).filter(isMeant).reduce((total, { count }) => total + count, 0);
  const ofType = (row: { type: string }) => type === undefined || row.type === type;
  const ofStatus = (row: { status: string }) => status === undefined || row.status === status;
  return {
    byStatus: (wanted: Task["status"] | null) =>
      sum((row) => ofType(row) && (wanted === null || row.status === wanted)),
    byType: (wanted: Task["type"] | null) => sum((row) => ofStatus(row) && (wanted === null || row.type === wanted)),
  };
}
