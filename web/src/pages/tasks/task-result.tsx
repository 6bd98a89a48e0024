import { isOver, type Task } from "../../api/ask-tasks.ts";
import { Notice } from "../../design/notice.tsx";
import { ProgressBar } from "../../design/progress-bar.tsx";
import { formatMoment } from "../../parts/format-time.ts";
import { useSession } from "../../parts/use-session.ts";
import { OutputList } from "./output-list.tsx";
import { TaskSection } from "./task-section.tsx";

/** What became of a task so far: how far it is, what it made, or why it made nothing. */
export function TaskResult({ task }: { task: Task }) {
  const { error, warnings = [], output } = task;
  return (
    <TaskSection title="Result">
      {!isOver(task) && <UnderWay task={task} />}
      {error !== undefined && (
        <Notice kind="error" title={error.message}>
          <p>
            {error.retryable
              ? "Sending the same request again can help."
              : "The same request would fail again; change it first."}{" "}
            {/[1-9]/.test(task.usage.charge ?? "") ? "What was finished before is charged." : "It costs nothing."} (
            <code className="font-mono text-xs">{error.code}</code>)
          </p>
        </Notice>
      )}
      {warnings.map(({ code, message }) => (
        <Notice key={`${code} ${message}`} kind="warning">
          {message}
        </Notice>
      ))}
      {output.length > 0 && <OutputList output={output} />}
      {isOver(task) && output.length === 0 && error === undefined && (
        <p className="text-sm text-ink-soft">{nothingMade[task.status] ?? "It made nothing."}</p>
      )}
    </TaskSection>
  );
}

const nothingMade: Partial<Record<Task["status"], string>> = {
  canceled: "It was canceled before it made anything.",
  expired: "It did not end before its deadline, so it was given up.",
};

function UnderWay({ task }: { task: Task }) {
  const { time_zone: timeZone } = useSession().account;
  return (
    <div className="flex flex-col gap-2">
      <ProgressBar label="How far the task is" percent={task.progress} />
      <p className="text-sm text-ink-soft" aria-live="polite">
        {task.status === "queued" ? "It waits for its turn." : "It is being made."} This page keeps up by itself.
        {task.expires_at !== undefined && ` It is given up at no charge on ${formatMoment(task.expires_at, timeZone)}.`}
      </p>
    </div>
  );
}
