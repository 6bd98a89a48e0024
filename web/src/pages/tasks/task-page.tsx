import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "../../api/console-api.ts";
import { isOver, type Task } from "../../api/fetch-tasks.ts";
import { Button, buttonClasses } from "../../design/button.tsx";
import { CopyableText } from "../../design/copyable-text.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Notice } from "../../design/notice.tsx";
import { ProgressBar } from "../../design/progress-bar.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { formatMoment } from "../../parts/format/format-time.ts";
import { nameType } from "../../parts/format/model-labels.ts";
import { nameTask } from "../../parts/format/name-task.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { lazyPart } from "../../parts/frame/lazy-part.tsx";
import { useFollowedTask } from "../../parts/records/use-followed-task.ts";
import { useSession } from "../../parts/session/use-session.ts";
import { findInput } from "./choose-cover.ts";
import { OutputList } from "./output-list.tsx";
import { TaskSection } from "./task-section.tsx";
import { TaskStatus } from "./task-status.tsx";

const route = getRouteApi("/signed-in/console/console/tasks/$id");
const tasks = [{ to: "/console/tasks", name: "Tasks" }];

const CancelTaskDialog = lazyPart(async () => (await import("./cancel-task-dialog.tsx")).CancelTaskDialog);
const TaskFacts = lazyPart(async () => (await import("./task-facts.tsx")).TaskFacts, <Skeleton className="h-64" />);
const TaskDetails = lazyPart(
  async () => (await import("./task-details.tsx")).TaskDetails,
  <Skeleton className="h-48" />,
);

export function TaskPage() {
  const { id } = route.useParams();
  const { task, error, onRetry } = useFollowedTask(id);
  if (task === undefined && error instanceof ApiError && error.status === 404) return <NoSuchTask />;
  if (task === undefined) {
    return (
      <ConsoleFrame title="Task" parents={tasks}>
        {error === null ? <Waiting /> : <LoadFailure error={error} onRetry={onRetry} />}
      </ConsoleFrame>
    );
  }
  return (
    <ConsoleFrame title={nameTask(task)} parents={listParents(task)} actions={<Actions task={task} />}>
      <div className="-mt-4 flex flex-wrap items-center gap-x-4 gap-y-2">
        <TaskStatus task={task} />
        <span className="text-sm text-ink-soft">
          {nameType(task.type)} · {task.model}
        </span>
        <CopyableText text={task.id} label="task ID" />
      </div>
      <div className="grid gap-x-12 gap-y-10 lg:grid-cols-[minmax(0,1fr)_19rem]">
        <div className="flex min-w-0 flex-col gap-10">
          <TaskResult task={task} />
          <TaskDetails task={task} />
        </div>
        <TaskFacts task={task} />
      </div>
    </ConsoleFrame>
  );
}

/** A drama's child tasks also lead to the drama. */
function listParents({ parent_id: parentId }: Task) {
  return parentId === undefined ? tasks : [...tasks, { to: `/console/tasks/${parentId}`, name: "Drama" }];
}

/** Child tasks and tasks without a stored request cannot be run again. */
function Actions({ task }: { task: Task }) {
  const input = findInput(task, new Date());
  return (
    <>
      {input !== null && (
        <Link to="/console/playground" search={{ input: input.file_id }} className={buttonClasses("plain")}>
          Use as input
        </Link>
      )}
      {task.parent_id === undefined && task.prompt_erased_at === undefined && (
        <Link to="/console/playground" search={{ model: task.model, task: task.id }} className={buttonClasses("plain")}>
          Run again
        </Link>
      )}
      {!isOver(task) && <Cancel task={task} />}
    </>
  );
}

function Cancel({ task }: { task: Task }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button look="danger" onClick={() => setAsking(true)}>
        Cancel task
      </Button>
      {isAsking && <CancelTaskDialog task={task} onClose={() => setAsking(false)} />}
    </>
  );
}

function Waiting() {
  return (
    <div aria-busy="true" className="grid gap-x-12 gap-y-10 lg:grid-cols-[minmax(0,1fr)_19rem]">
      <p className="sr-only">Loading</p>
      <Skeleton className="h-96" />
      <Skeleton className="h-64" />
    </div>
  );
}

function NoSuchTask() {
  return (
    <ConsoleFrame title="Task not found" parents={tasks}>
      <EmptyState
        title="Your account has no such task."
        action={
          <Link to="/console/tasks" className={buttonClasses("plain")}>
            See all tasks
          </Link>
        }
      >
        Check the ID. The task may have expired or belong to another account.
      </EmptyState>
    </ConsoleFrame>
  );
}

function TaskResult({ task }: { task: Task }) {
  const { error, warnings = [], output } = task;
  return (
    <TaskSection title="Result">
      {!isOver(task) && <UnderWay task={task} />}
      {error !== undefined && (
        <Notice kind="error" title={error.message}>
          <p>
            {error.retryable
              ? "Retrying the same request may help."
              : "Change the request before you retry: it would fail again."}{" "}
            {/[1-9]/.test(task.usage.charge ?? "") ? "Finished output is charged." : "It costs nothing."} (
            <code className="font-mono text-xs">{error.code}</code>)
          </p>
        </Notice>
      )}
      {warnings.map(({ code, message }) => (
        <Notice key={`${code} ${message}`} kind="warning">
          {message}
        </Notice>
      ))}
      {output.length > 0 && <OutputList task={task} />}
      {isOver(task) && output.length === 0 && error === undefined && (
        <p className="text-sm text-ink-soft">{nothingMade[task.status] ?? "No output."}</p>
      )}
    </TaskSection>
  );
}

const nothingMade: Partial<Record<Task["status"], string>> = {
  canceled: "Canceled before any output.",
  expired: "Expired: it did not finish before its deadline.",
};

function UnderWay({ task }: { task: Task }) {
  const { time_zone: timeZone } = useSession().account;
  return (
    <div className="flex flex-col gap-2">
      <ProgressBar label="Task progress" percent={task.progress} />
      <p className="text-sm text-ink-soft" aria-live="polite">
        {task.status === "queued" ? "The task is queued." : "The task is processing."} This page updates automatically.
        {task.expires_at !== undefined && ` It expires at no charge on ${formatMoment(task.expires_at, timeZone)}.`}
      </p>
    </div>
  );
}
