import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { api, ask } from "../../api/console-api.ts";
import { isOver, type Task, type TaskOutput } from "../../api/fetch-tasks.ts";
import { Badge } from "../../design/badge.tsx";
import { Button, buttonClasses } from "../../design/button.tsx";
import { joinClasses } from "../../design/join-classes.ts";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Notice } from "../../design/notice.tsx";
import { ProgressBar } from "../../design/progress-bar.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { formatDuration } from "../../parts/format/format-duration.ts";
import { formatMoney } from "../../parts/format/format-money.ts";
import { describeTaskStatus } from "../../parts/format/task-labels.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { OutputView } from "../../parts/records/output-view.tsx";
import { useFollowedTask } from "../../parts/records/use-followed-task.ts";
import { fileUrl, keepOutput, writeDragged } from "./kept-file.ts";

type TaskRunProps = {
  taskId: string;
  currency: string;
  /** The result's label in a comparison. */
  label?: string;
  /** Actions for an output, beside download. */
  actionsOf?(output: TaskOutput, name: string): ReactNode;
  /** Actions for the whole task. */
  children?(task: Task): ReactNode;
};

export function TaskRun({ taskId, currency, label = "Result", actionsOf, children }: TaskRunProps) {
  const { task, error, onRetry } = useFollowedTask(taskId);
  if (task === undefined) {
    return error === null ? (
      <div aria-busy="true">
        <Skeleton className="h-96" />
      </div>
    ) : (
      <LoadFailure title="Could not load the task." error={error} onRetry={onRetry} />
    );
  }
  return (
    <section aria-label={label} className="flex min-w-0 flex-col gap-4">
      <TaskHead task={task} />
      {!isOver(task) && <RunningTask task={task} />}
      {task.error !== undefined && (
        <Notice kind="error" title="The task failed.">
          {task.error.message}
        </Notice>
      )}
      <Outputs task={task} {...(actionsOf === undefined ? {} : { actionsOf })} />
      {task.warnings?.map(({ code, message }) => (
        <Notice key={`${code} ${message}`} kind="warning">
          {message}
        </Notice>
      ))}
      <TaskCost task={task} currency={currency} />
      {children?.(task)}
      {task.steps !== undefined && <Steps steps={task.steps} currency={currency} />}
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
    <div className="flex min-h-80 flex-col justify-center gap-3 rounded-lg border border-line bg-sunken p-6 sm:p-10">
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

function Outputs({ task, actionsOf }: { task: Task } & Pick<TaskRunProps, "actionsOf">) {
  // A drama's step outputs are shown with the steps, except the final video and its files.
  const inSteps = new Set(task.steps?.flatMap(({ name, output }) => (name === "film" ? [] : output.map(keyOf))));
  const outputs = task.output.filter((output) => !inSteps.has(keyOf(output)));
  if (outputs.length === 0) return null;
  return (
    <div className={joinClasses("grid gap-5", outputs.length > 1 && task.steps === undefined && "sm:grid-cols-2")}>
      {outputs.map((output, index) => {
        const name = outputs.length > 1 ? `${output.type} ${index + 1}` : output.type;
        return <CanvasOutput key={keyOf(output)} output={output} name={name} actions={actionsOf?.(output, name)} />;
      })}
    </div>
  );
}

/** Links are re-signed with every response; the path is stable. */
function keyOf({ file_id: fileId }: TaskOutput): string {
  return fileId;
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
          {step.name !== "film" && <StepOutputs output={step.output} />}
        </li>
      ))}
    </ol>
  );
}

const outputsShownMax = 2;

/** Collapsed if there are many. */
function StepOutputs({ output }: { output: readonly TaskOutput[] }) {
  if (output.length <= outputsShownMax) return <StepOutputList output={output} />;
  return (
    <details className="text-sm">
      <summary className="text-ink-soft">{output.length} outputs</summary>
      <div className="flex flex-col gap-3 pt-3">
        <StepOutputList output={output} />
      </div>
    </details>
  );
}

/** A grid for small items; documents and audio get full width. */
function StepOutputList({ output }: { output: readonly TaskOutput[] }) {
  const { seen = [], read = [] } = Object.groupBy(output, ({ content_type: type }) =>
    /^(image|video)\//.test(type) ? "seen" : "read",
  );
  return (
    <>
      {read.map((each) => (
        <OutputView key={keyOf(each)} output={each} name={each.type} />
      ))}
      {seen.length > 0 && (
        <div className="grid grid-cols-2 gap-3 sm:grid-cols-4">
          {seen.map((each, index) => (
            <CanvasOutput key={keyOf(each)} output={each} name={`${each.type} ${index + 1}`} isSmall />
          ))}
        </div>
      )}
    </>
  );
}

function TaskCost({ task, currency }: { task: Task; currency: string }) {
  const { charge, estimated_charge: estimated } = task.usage;
  const isKnown = isOver(task) && charge !== undefined;
  const { started_at: startedAt, finished_at: finishedAt } = task;
  return (
    <p className="flex flex-wrap gap-x-5 text-sm text-ink-soft tabular-nums">
      <span>
        {isKnown ? "Cost " : "On hold, at most "}
        <span className="font-medium text-ink">{formatMoney(isKnown ? charge : estimated, currency)}</span>
      </span>
      {startedAt !== undefined && finishedAt !== undefined && (
        <span>
          Time <span className="text-ink">{formatDuration(Date.parse(finishedAt) - Date.parse(startedAt))}</span>
        </span>
      )}
    </p>
  );
}

type CanvasOutputProps = { output: TaskOutput; name: string; actions?: ReactNode; isSmall?: boolean };

/** An output at full size. It can be dragged into any file field. */
function CanvasOutput({ output, name, actions, isSmall = false }: CanvasOutputProps) {
  const { content_type: contentType, file_id: fileId, width, height } = output;
  const isImage = contentType.startsWith("image/");
  if (isSmall) {
    const frame = "aspect-video w-full rounded-md border border-line bg-sunken object-contain";
    return isImage ? (
      <img
        src={fileUrl(fileId)}
        alt={name}
        width={width}
        height={height}
        loading="lazy"
        className={frame}
        onDragStart={(event) => writeDragged(event.dataTransfer, keepOutput(output, name))}
      />
    ) : (
      // biome-ignore lint/a11y/useMediaCaption: a shot of a drama has its captions in the final video.
      <video src={fileUrl(fileId)} controls playsInline preload="metadata" aria-label={name} className={frame} />
    );
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dragging duplicates its menu.
    <div
      className="flex min-w-0 flex-col gap-1"
      draggable={isImage}
      onDragStart={(event) => writeDragged(event.dataTransfer, keepOutput(output, name))}
    >
      <OutputView output={output} name={name} />
      {actions}
    </div>
  );
}
