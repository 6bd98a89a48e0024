import { Link } from "@tanstack/react-router";
import type { Task } from "../../api/fetch-tasks.ts";
import { buttonClasses } from "../../design/button.tsx";
import { type Column, DataTable } from "../../design/data-table.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { Section } from "../../design/section.tsx";
import { formatSince } from "../../parts/format/format-time.ts";
import { nameType } from "../../parts/format/model-labels.ts";
import { nameTask } from "../../parts/format/name-task.ts";
import { TaskCover } from "../tasks/task-cover.tsx";
import { TaskStatus } from "../tasks/task-status.tsx";

type LatestTasksProps = { rows: Task[] | undefined; error: Error | null; onRetry(): void };

export function LatestTasks({ rows, error, onRetry }: LatestTasksProps) {
  return (
    <Section
      title="Latest tasks"
      actions={
        <Link to="/console/tasks" className={buttonClasses("quiet", "-mr-2")}>
          See all
        </Link>
      }
    >
      <DataTable
        label="List of the latest tasks"
        columns={columns}
        rows={rows}
        error={error}
        onRetry={onRetry}
        keyOf={({ id }) => id}
        empty={
          <EmptyState title="No tasks yet">
            Images, video, avatars, dramas and speech are tasks; they appear here.
          </EmptyState>
        }
      />
    </Section>
  );
}

const columns: readonly Column<Task>[] = [
  {
    name: "Task",
    hasNames: true,
    cell: (task) => (
      <div className="flex min-w-40 items-center gap-3">
        <span className="relative size-10 shrink-0 overflow-hidden rounded-md bg-sunken">
          <TaskCover task={task} isSmall />
        </span>
        <div className="flex min-w-0 flex-col gap-0.5">
          <Link
            to="/console/tasks/$id"
            params={{ id: task.id }}
            className="line-clamp-1 font-medium hover:text-accent hover:underline"
          >
            {nameTask(task)}
          </Link>
          <span className="text-xs text-ink-soft">
            {nameType(task.type)} · {task.model}
          </span>
          <span className="text-xs text-ink-soft sm:hidden">{writeAge(task)}</span>
        </div>
      </div>
    ),
  },
  { name: "Status", cell: (task) => <TaskStatus task={task} /> },
  {
    name: "Created",
    align: "right",
    isSecondary: true,
    cell: (task) => <span className="text-ink-soft">{writeAge(task)}</span>,
  },
];

function writeAge({ created }: Task): string {
  return formatSince(new Date(created * 1000).toISOString(), new Date());
}
