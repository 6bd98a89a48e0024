import { Link } from "@tanstack/react-router";
import { isOver, type Task } from "../../api/ask-tasks.ts";
import { api, ask } from "../../api/console-api.ts";
import { Badge } from "../../design/badge.tsx";
import { Button, buttonClasses } from "../../design/button.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Notice } from "../../design/notice.tsx";
import { ProgressBar } from "../../design/progress-bar.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { formatMoney } from "../../parts/format/format-money.ts";
import { describeTaskStatus } from "../../parts/format/task-words.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { OutputView } from "../../parts/records/output-view.tsx";
import { useFollowedTask } from "../../parts/records/use-followed-task.ts";

/** A task that was submitted here: its progress, output and cost. */
export function TaskRun({ taskId, currency }: { taskId: string; currency: string }) {
  const { task, error, onRetry } = useFollowedTask(taskId);
  if (task === undefined) {
    return error === null ? (
      <div aria-busy="true">
        <Skeleton className="h-40" />
      </div>
    ) : (
      <LoadFailure title="The task cannot be shown." error={error} onRetry={onRetry} />
    );
  }
  return (
    <section aria-label="Result" className="flex min-w-0 flex-col gap-5">
      <TaskHead task={task} />
      {!isOver(task) && <RunningTask task={task} />}
      {task.error !== undefined && (
        <Notice kind="error" title="The task failed.">
          <p>{task.error.message}</p>
        </Notice>
      )}
      {task.steps !== undefined && <Steps steps={task.steps} currency={currency} />}
      <Outputs task={task} />
      {task.warnings?.map(({ code, message }) => (
        <Notice key={`${code} ${message}`} kind="warning">
          {message}
        </Notice>
      ))}
      <TaskCost task={task} currency={currency} />
    </section>
  );
}

function TaskHead({ task }: { task: Task }) {
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <h2 className="text-lg font-semibold">Result</h2>
      <span aria-live="polite">
        <StatusBadge status={task.status} />
      </span>
      <Link to="/console/tasks/$id" params={{ id: task.id }} className={buttonClasses("quiet", "ml-auto")}>
        Open task
      </Link>
    </div>
  );
}

function StatusBadge({ status }: Pick<Task, "status">) {
  const { kind, name } = describeTaskStatus(status);
  return <Badge kind={kind}>{name}</Badge>;
}

function RunningTask({ task }: { task: Task }) {
  const cancel = useAction(() =>
    ask(api.POST("/tasks/{task_id}/cancel", { params: { path: { task_id: task.id } }, body: {} })),
  );
  return (
    <div className="flex flex-col gap-3">
      <ProgressBar label="Progress" percent={task.progress} />
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="text-sm text-ink-soft tabular-nums">{describeProgress(task)}</p>
        <Button onClick={() => cancel.run(undefined)} isBusy={cancel.isBusy}>
          Cancel
        </Button>
      </div>
      <FormError message={cancel.errorBeside()} />
    </div>
  );
}

function describeProgress({ status, progress, queue_position: position }: Task): string {
  if (status === "queued") return position === undefined || position <= 1 ? "Queued" : `Queued, position ${position}`;
  return `${progress} % done`;
}

function Outputs({ task }: { task: Task }) {
  // The output of a drama's steps is shown with the steps, except the final video with its files.
  const inSteps = new Set(task.steps?.flatMap(({ name, output }) => (name === "film" ? [] : output.map(keyOf))));
  const outputs = task.output.filter((output) => !inSteps.has(keyOf(output)));
  if (outputs.length === 0) return null;
  return (
    <div className={outputs.length > 1 ? "grid gap-5 sm:grid-cols-2" : "grid gap-5"}>
      {outputs.map((output, index) => (
        <OutputView
          key={keyOf(output)}
          output={output}
          name={outputs.length > 1 ? `${output.type} ${index + 1}` : output.type}
        />
      ))}
    </div>
  );
}

/** Links are signed anew with every answer; what they lead to stays. */
function keyOf({ url }: Task["output"][number]): string {
  return new URL(url).pathname;
}

function Steps({ steps, currency }: { steps: NonNullable<Task["steps"]>; currency: string }) {
  return (
    <ol aria-label="Steps" className="flex flex-col divide-y divide-line border-y border-line">
      {steps.map((step) => (
        <li key={step.name} className="flex flex-col gap-3 py-3">
          <div className="flex flex-wrap items-center gap-3 text-sm">
            <span className="font-medium capitalize">{step.name}</span>
            <StatusBadge status={step.status} />
            {step.status === "processing" && <span className="text-ink-soft tabular-nums">{step.progress} %</span>}
            {step.status === "succeeded" && !/^0(\.0+)?$/.test(step.charge) && (
              <span className="ml-auto text-ink-soft tabular-nums">{formatMoney(step.charge, currency)}</span>
            )}
          </div>
          {step.name !== "film" &&
            step.output.map((output) => <OutputView key={keyOf(output)} output={output} name={output.type} />)}
        </li>
      ))}
    </ol>
  );
}

function TaskCost({ task, currency }: { task: Task; currency: string }) {
  const { charge, estimated_charge: estimated } = task.usage;
  const isKnown = isOver(task) && charge !== undefined;
  return (
    <p className="text-sm text-ink-soft tabular-nums">
      {isKnown ? "Cost " : "On hold, at most "}
      <span className="font-medium text-ink">{formatMoney(isKnown ? charge : estimated, currency)}</span>
    </p>
  );
}
