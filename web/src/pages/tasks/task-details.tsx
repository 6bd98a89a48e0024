import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { isOver, type Task } from "../../api/fetch-tasks.ts";
import { queryTable } from "../../api/query-table.ts";
import { usePageQuery } from "../../api/use-page-query.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Badge } from "../../design/badge.tsx";
import { CodeBlock } from "../../design/code-block.tsx";
import { type Column, DataTable } from "../../design/data-table.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { LoadMore } from "../../design/load-more.tsx";
import { ProgressBar } from "../../design/progress-bar.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { formatDuration } from "../../parts/format/format-duration.ts";
import { formatMoney } from "../../parts/format/format-money.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { nameType } from "../../parts/format/model-labels.ts";
import { describeTaskStatus } from "../../parts/format/task-labels.ts";
import { useSession } from "../../parts/session/use-session.ts";
import { OutputList } from "./output-list.tsx";
import { TaskDeliveries } from "./task-deliveries.tsx";
import { TaskSection } from "./task-section.tsx";
import { TaskStatus } from "./task-status.tsx";

/** Steps, request and webhook deliveries. */
export function TaskDetails({ task }: { task: Task }) {
  return (
    <>
      {task.steps !== undefined && <TaskSteps task={task} steps={task.steps} />}
      {task.steps !== undefined && <TaskParts task={task} />}
      {task.parent_id === undefined && <TaskRequest task={task} />}
      {task.parent_id === undefined && isOver(task) && <TaskDeliveries taskId={task.id} />}
    </>
  );
}

type Step = NonNullable<Task["steps"]>[number];

/** A drama's steps with progress, output and cost. */
function TaskSteps({ task, steps }: { task: Task; steps: readonly Step[] }) {
  const { data: site } = useTableQuery(queryTable.site.settings());
  const shown = new Set(task.output.map(({ sha256 }) => sha256));
  return (
    <TaskSection title="Steps">
      <ol className="divide-y divide-line border-y border-line">
        {steps.map((step) => (
          <li key={step.name} className="flex flex-col gap-3 py-3.5 text-sm">
            <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1.5">
              <span className="flex items-center gap-3">
                <span className="min-w-24 font-medium capitalize">{step.name}</span>
                <Badge kind={describeTaskStatus(step.status).kind}>{describeTaskStatus(step.status).name}</Badge>
              </span>
              <span className="text-ink-soft tabular-nums">
                {describeParts(step)}
                {site !== undefined && formatMoney(step.charge, site.currency)}
              </span>
            </div>
            {step.status === "processing" && <ProgressBar label={`Progress of ${step.name}`} percent={step.progress} />}
            <StepOutput task={{ ...task, output: step.output.filter(({ sha256 }) => !shown.has(sha256)) }} />
          </li>
        ))}
      </ol>
      {!isOver(task) && <p className="text-xs text-ink-soft">A step is charged when its output is ready.</p>}
    </TaskSection>
  );
}

/** Collapsed: a drama has many shots, and each would load. */
function StepOutput({ task }: { task: Pick<Task, "model" | "prompt" | "created" | "output"> }) {
  const { output } = task;
  const [isOpen, setOpen] = useState(false);
  if (output.length === 0) return null;
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="rounded-sm text-ink-soft hover:text-ink">
        {output.length === 1 ? "Output" : `${output.length} outputs`}
      </summary>
      {isOpen && (
        <div className="pt-3">
          <OutputList task={task} />
        </div>
      )}
    </details>
  );
}

function describeParts({ task_ids: ids }: Step): string {
  if (ids.length === 0) return "";
  return ids.length === 1 ? "1 part · " : `${ids.length} parts · `;
}

const refreshMs = 3_000;

/** Child tasks of a drama, charged with it. */
function TaskParts({ task }: { task: Task }) {
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
        empty={<p className="text-sm text-ink-soft">{isOver(task) ? "No child tasks." : "No child tasks yet."}</p>}
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

/** The request, while it is stored. */
function TaskRequest({ task }: { task: Task }) {
  const { time_zone: timeZone } = useSession().account;
  return (
    <TaskSection title="Request">
      {task.prompt_erased_at === undefined ? (
        <KeptRequest taskId={task.id} />
      ) : (
        <p className="text-sm text-ink-soft">
          No longer stored. It was erased on {formatMoment(task.prompt_erased_at, timeZone)}.
        </p>
      )}
    </TaskSection>
  );
}

function KeptRequest({ taskId }: { taskId: string }) {
  const request = useTableQuery(queryTable.tasks.request(taskId));
  if (request.error !== null) return <LoadFailure error={request.error} onRetry={() => void request.refetch()} />;
  if (request.data === undefined) return <Skeleton className="h-40" />;
  return (
    <>
      <p className="text-sm text-ink-soft">
        <code className="font-mono">POST {request.data.endpoint}</code>, with defaults filled in.
      </p>
      <div className="max-h-96 overflow-y-auto rounded-md">
        <CodeBlock label="Body of the request" code={JSON.stringify(request.data.body, null, 2)} />
      </div>
    </>
  );
}
