import { isOver, type Task } from "../../api/ask-tasks.ts";
import { Notice } from "../../design/notice.tsx";
import { ProgressBar } from "../../design/progress-bar.tsx";
import { formatMoment } from "../../parts/format/format-time.ts";
import { useSession } from "../../parts/session/use-session.ts";
import { OutputList } from "./output-list.tsx";
import { TaskSection } from "./task-section.tsx";

export function TaskResult({ task }: { task: Task }) {
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
