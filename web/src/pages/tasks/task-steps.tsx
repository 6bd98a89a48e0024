import { useState } from "react";
import { isOver, type Task } from "../../api/ask-tasks.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Badge } from "../../design/badge.tsx";
import { ProgressBar } from "../../design/progress-bar.tsx";
import { formatMoney } from "../../parts/format/format-money.ts";
import { describeTaskStatus } from "../../parts/format/task-words.ts";
import { OutputList } from "./output-list.tsx";
import { TaskSection } from "./task-section.tsx";

type Step = NonNullable<Task["steps"]>[number];

/** A drama's steps with progress, output and cost. */
export function TaskSteps({ task, steps }: { task: Task; steps: readonly Step[] }) {
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
