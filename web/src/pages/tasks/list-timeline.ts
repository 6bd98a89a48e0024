import type { Task } from "../../api/fetch-tasks.ts";
import { formatDuration } from "../../parts/format/format-duration.ts";
import { describeTaskStatus } from "../../parts/format/task-labels.ts";

type MomentsOf = Pick<Task, "status" | "created" | "started_at" | "finished_at">;
type Moment = { name: string; at: string; detail: string };

/** A task's timeline, each moment with its duration so far. */
export function listTimeline(task: MomentsOf, nowMs: number): Moment[] {
  const { started_at: startedAt, finished_at: finishedAt } = task;
  const createdMs = task.created * 1000;
  const startedMs = startedAt === undefined ? null : Date.parse(startedAt);
  const isOver = finishedAt !== undefined;
  const waiting = startedMs === null && !isOver ? `waiting for ${formatDuration(nowMs - createdMs)}` : "";
  const moments: Moment[] = [{ name: "Created", at: new Date(createdMs).toISOString(), detail: waiting }];
  if (startedAt !== undefined && startedMs !== null) {
    const running = `running for ${formatDuration(nowMs - startedMs)}`;
    moments.push({ name: "Started", at: startedAt, detail: isOver ? describeWait(startedMs - createdMs) : running });
  }
  if (finishedAt !== undefined) {
    const finishedMs = Date.parse(finishedAt);
    const detail =
      startedMs === null ? describeWait(finishedMs - createdMs) : `took ${formatDuration(finishedMs - startedMs)}`;
    moments.push({ name: describeTaskStatus(task.status).name, at: finishedAt, detail });
  }
  return moments;
}

/** `created` has second precision, so shorter waits are unknown. */
function describeWait(milliseconds: number): string {
  return milliseconds < 1_000 ? "immediately" : `after ${formatDuration(milliseconds)}`;
}
