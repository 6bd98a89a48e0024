import { useState } from "react";
import { ApiError, ask } from "../../../api/console-api.ts";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { Badge } from "../../../design/badge.tsx";
import { Button } from "../../../design/button.tsx";
import { CopyableText } from "../../../design/copyable-text.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { FactList } from "../../../design/fact-list.tsx";
import { LoadFailure } from "../../../design/load-failure.tsx";
import { Notice } from "../../../design/notice.tsx";
import { Section } from "../../../design/section.tsx";
import { Skeleton } from "../../../design/skeleton.tsx";
import { formatMoney } from "../../../parts/format/format-money.ts";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { describeTaskStatus } from "../../../parts/format/task-labels.ts";
import { ConsoleFrame } from "../../../parts/frame/console-frame.tsx";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { AccountCell } from "../account-cell.tsx";
import { adminApi } from "../admin-api.ts";
import { AdminLink, useAdminPlace } from "../admin-place.tsx";
import { adminQueries, useAdminRefresh } from "../admin-query-table.ts";
import { AuditTable } from "../audit/audit-table.tsx";
import type { Task } from "../fetch-admin.ts";
import { ReasonDialog } from "../reason-dialog.tsx";
import { useCurrency } from "../use-currency.ts";

const parents = [{ to: "/console/admin/work", name: "Tasks and webhooks" }];

/** One task's course, for operators. */
export function AnyTaskPage() {
  const { id = "" } = useAdminPlace().params;
  const query = useTableQuery(adminQueries.adminWork.task(id));
  const { data: task, error } = query;
  if (error instanceof ApiError && error.status === 404) {
    return (
      <ConsoleFrame title="Task not found" parents={parents}>
        <EmptyState title="There is no such task." action={<AdminLink to="work">See open tasks</AdminLink>}>
          The ID may be misspelled, or the task was deleted after its retention.
        </EmptyState>
      </ConsoleFrame>
    );
  }
  return (
    <ConsoleFrame
      title={task === undefined ? "Task" : `${task.type}: ${task.model}`}
      parents={parents}
      actions={task !== undefined && <Actions task={task} />}
    >
      {task === undefined && error === null && <Skeleton className="h-96" />}
      {task === undefined && error !== null && (
        <LoadFailure title="Could not load the task." error={error} onRetry={() => void query.refetch()} />
      )}
      {task !== undefined && <LoadedTask task={task} />}
    </ConsoleFrame>
  );
}

function LoadedTask({ task }: { task: Task }) {
  const { time_zone: timeZone } = useSession().account;
  const currency = useCurrency() ?? "USD";
  const { kind, name } = describeTaskStatus(task.state);
  const target = (one: NonNullable<Task["target"]>) => `${one.model ?? "?"}@${one.provider}, key ${one.key + 1}`;
  return (
    <>
      <div className="-mt-4 flex flex-wrap items-center gap-x-4 gap-y-1">
        <Badge kind={kind}>{name}</Badge>
        <CopyableText text={task.id} label="task ID" />
      </div>
      {task.error !== null && (
        <Notice kind="error" title={task.error.code}>
          {task.error.message}
        </Notice>
      )}
      <FactList
        facts={[
          { name: "Account", value: <AccountCell id={task.account_id} email={task.email} /> },
          { name: "Phase", value: `${task.phase}, ${task.progress} %` },
          { name: "Upstream", value: task.target === null ? (task.provider ?? "None") : target(task.target) },
          ...task.tried.map((one, index) => ({
            id: `tried ${index}`,
            name: index === 0 ? "Tried before" : "",
            value: target(one),
          })),
          ...(task.due_at === null
            ? []
            : [
                { name: "Next look", value: formatMoment(task.due_at, timeZone) },
                { name: "Looks so far", value: task.polls ?? 0 },
                { name: "Deadline", value: formatMoment(task.deadline_at, timeZone) },
              ]),
          { name: "Charged", value: formatMoney(task.charge, currency) },
          { name: "Request", value: <CopyableText text={task.request_id} label="request ID" /> },
          ...(task.parent_id === null
            ? []
            : [
                {
                  name: "Step of",
                  value: (
                    <AdminLink to={`tasks/${task.parent_id}`} className={linkClasses}>
                      {task.parent_id}
                    </AdminLink>
                  ),
                },
              ]),
        ]}
      />
      <Section title="Course">
        <FactList
          facts={task.course.map(({ event, at }) => ({
            id: `${event} ${at}`,
            name: event,
            value: formatMoment(at, timeZone),
          }))}
        />
      </Section>
      {task.steps.length > 0 && (
        <Section title="Steps">
          <FactList
            facts={task.steps.map(({ name: step, state, progress }) => ({
              name: step,
              value: `${state}, ${progress} %`,
            }))}
          />
        </Section>
      )}
      <Section title="History">
        <AuditTable filter={{ subject: task.id }} />
      </Section>
    </>
  );
}

function Actions({ task }: { task: Task }) {
  const [dialog, setDialog] = useState<"cancel" | "retry" | null>(null);
  const refresh = useAdminRefresh();
  const params = { path: { task_id: task.id } };
  const isOpen = task.finished_at === null;
  const common = {
    onDone: () => void refresh("adminWork", "adminToday"),
    onClose: () => setDialog(null),
  };
  return (
    <>
      <Button onClick={() => setDialog("retry")}>{isOpen ? "Run now" : "Run again"}</Button>
      {isOpen && <Button onClick={() => setDialog("cancel")}>Cancel task</Button>}
      {dialog === "retry" && (
        <ReasonDialog
          title={isOpen ? "Look at this task now?" : "Create this task again?"}
          submitName={isOpen ? "Run now" : "Run again"}
          send={({ reason }) => ask(adminApi.POST("/tasks/{task_id}/retry", { params, body: { reason } }))}
          done={isOpen ? "The task is due now." : "A new task was created."}
          {...common}
        >
          {!isOpen && (
            <p className="text-sm text-ink-soft">
              The same request, price and key. The customer pays for it if it succeeds.
            </p>
          )}
        </ReasonDialog>
      )}
      {dialog === "cancel" && (
        <ReasonDialog
          title="Cancel this task?"
          submitName="Cancel task"
          look="danger"
          send={({ reason }) => ask(adminApi.POST("/tasks/{task_id}/cancel", { params, body: { reason } }))}
          done="Cancellation requested."
          {...common}
        >
          <p className="text-sm text-ink-soft">
            A task that no upstream has started ends at once. Otherwise it ends when the upstream has stopped.
          </p>
        </ReasonDialog>
      )}
    </>
  );
}
