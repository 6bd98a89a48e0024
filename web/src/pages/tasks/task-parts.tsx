import { Link } from "@tanstack/react-router";
import { isOver, type Task } from "../../api/ask-tasks.ts";
import { queryTable } from "../../api/query-table.ts";
import { usePageQuery } from "../../api/use-page-query.ts";
import { type Column, DataTable } from "../../design/data-table.tsx";
import { LoadMore } from "../../design/load-more.tsx";
import { formatDuration } from "../../parts/format/format-duration.ts";
import { nameType } from "../../parts/format/model-words.ts";
import { TaskSection } from "./task-section.tsx";
import { TaskStatus } from "./task-status.tsx";

const refreshMs = 3_000;

/** Child tasks of a drama, charged with it. */
export function TaskParts({ task }: { task: Task }) {
  const { rows, more, ...parts } = usePageQuery(queryTable.tasks.parts(task.id), {
    decideRefreshMs: (seen) => (isOver(task) && seen.every(isOver) ? null : refreshMs),
  });
  return (
    <TaskSection title="Parts">
      <DataTable
        label="Parts of the task"
        columns={columns}
        rows={rows}
        {...parts}
        keyOf={({ id }) => id}
        expectedRows={3}
        empty={<p className="text-sm text-ink-soft">No child tasks yet.</p>}
      />
      <LoadMore {...more} />
    </TaskSection>
  );
}

const columns: readonly Column<Task>[] = [
  {
    name: "Part",
    hasNames: true,
    cell: ({ id, type, model }) => (
      <Link to="/console/tasks/$id" params={{ id }} className="font-medium hover:text-accent hover:underline">
        {nameType(type)} <span className="font-normal text-ink-soft">{model}</span>
      </Link>
    ),
  },
  { name: "Status", cell: (task) => <TaskStatus task={task} /> },
  { name: "Took", align: "right", cell: (task) => <span className="text-ink-soft">{describeSpan(task)}</span> },
];

function describeSpan({ started_at: startedAt, finished_at: finishedAt }: Task): string {
  if (startedAt === undefined || finishedAt === undefined) return "–";
  return formatDuration(Date.parse(finishedAt) - Date.parse(startedAt));
}
