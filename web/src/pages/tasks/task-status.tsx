import { isOver, type Task } from "../../api/fetch-tasks.ts";
import { Badge } from "../../design/badge.tsx";
import { ProgressBar } from "../../design/progress-bar.tsx";
import { describeTaskStatus } from "../../parts/format/task-labels.ts";

/** Status, with progress while running. */
export function TaskStatus({ task }: { task: Pick<Task, "status" | "progress" | "queue_position"> }) {
  const { kind, name } = describeTaskStatus(task.status);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
      <Badge kind={kind}>{name}</Badge>
      {!isOver(task) && task.progress > 0 && (
        <div className="flex items-center gap-2">
          <div className="w-20">
            <ProgressBar label="Progress" percent={task.progress} />
          </div>
          <span className="text-xs text-ink-soft tabular-nums">{task.progress} %</span>
        </div>
      )}
      {task.queue_position !== undefined && (
        <span className="text-xs text-ink-soft">
          {task.queue_position <= 1 ? "next in queue" : `position ${task.queue_position} in queue`}
        </span>
      )}
    </div>
  );
}
