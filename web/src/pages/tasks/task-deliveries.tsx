import { Link } from "@tanstack/react-router";
import { api, ask } from "../../api/console-api.ts";
import type { TaskEvent } from "../../api/fetch-tasks.ts";
import { queryTable } from "../../api/query-table.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Badge } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { useToast } from "../../design/toast.tsx";
import { describeAttempt, describeDeliveryStatus } from "../../parts/format/delivery-labels.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { useSession } from "../../parts/session/use-session.ts";
import { TaskSection } from "./task-section.tsx";

type Delivery = TaskEvent["deliveries"][number];

export function TaskDeliveries({ taskId }: { taskId: string }) {
  const event = useTableQuery(queryTable.tasks.event(taskId));
  if (event.error !== null && event.data === undefined) {
    return (
      <TaskSection title="Webhooks">
        <LoadFailure error={event.error} onRetry={() => void event.refetch()} />
      </TaskSection>
    );
  }
  if (event.data === undefined) {
    return (
      <TaskSection title="Webhooks">
        <Skeleton className="h-14" />
      </TaskSection>
    );
  }
  const { data } = event;
  return (
    <TaskSection title="Webhooks" actions={data !== null && <Resend taskId={taskId} eventId={data.event.id} />}>
      {data === null && <p className="text-sm text-ink-soft">The event has expired.</p>}
      {data?.deliveries.length === 0 && (
        <p className="text-sm text-ink-soft">
          Not delivered: there was no{" "}
          <Link to="/console/webhooks" className={linkClasses}>
            webhook
          </Link>{" "}
          and no <code className="font-mono">callback_url</code> when it ended.
        </p>
      )}
      {data !== null && data.deliveries.length > 0 && (
        <ul className="divide-y divide-line border-y border-line">
          {data.deliveries.map((delivery) => (
            <DeliveryRow key={delivery.id} delivery={delivery} />
          ))}
        </ul>
      )}
    </TaskSection>
  );
}

function Resend({ taskId, eventId }: { taskId: string; eventId: string }) {
  const answers = useQueryCache();
  const showToast = useToast();
  const resend = useAction(
    () => ask(api.POST("/events/{id}/resend", { params: { path: { id: eventId } }, body: {} })),
    () => {
      showToast("Event resent.");
      return answers.refreshOne(queryTable.tasks.event(taskId));
    },
  );
  return (
    <div className="flex flex-col items-end gap-2">
      <Button isBusy={resend.isBusy} onClick={() => resend.run(undefined)}>
        Resend
      </Button>
      <FormError message={resend.errorBeside()} />
    </div>
  );
}

function DeliveryRow({ delivery }: { delivery: Delivery }) {
  const { time_zone: timeZone } = useSession().account;
  const { kind, name } = describeDeliveryStatus(delivery.status);
  return (
    <li className="flex flex-col gap-1 py-3 text-sm">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <span className="min-w-0 font-mono text-xs">{delivery.url}</span>
        <Badge kind={kind}>{name}</Badge>
      </div>
      <p className="text-xs text-ink-soft tabular-nums">
        {describeAttempts(delivery)}
        {delivery.next_attempt_at !== undefined &&
          ` · next attempt ${formatMoment(delivery.next_attempt_at, timeZone)}`}
      </p>
    </li>
  );
}

function describeAttempts({ attempts }: Delivery): string {
  const last = attempts.at(-1);
  if (last === undefined) return "No attempt yet";
  if (attempts.length === 1) return `1 attempt: ${describeAttempt(last)}`;
  return `${attempts.length} attempts, the last ${describeAttempt(last)}`;
}
