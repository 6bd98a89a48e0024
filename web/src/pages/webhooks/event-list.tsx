import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { WebhookEvent } from "../../api/fetch-webhooks.ts";
import { queryTable } from "../../api/query-table.ts";
import { usePageQuery } from "../../api/use-page-query.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { CodeBlock } from "../../design/code-block.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { LoadMore } from "../../design/load-more.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { formatMoment } from "../../parts/format/format-time.ts";
import { nameType } from "../../parts/format/model-labels.ts";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { useSession } from "../../parts/session/use-session.ts";
import { Attempts, DeliveryStatus, Disclosure } from "./delivery-details.tsx";
import { ResendButton } from "./resend-button.tsx";

export function EventList() {
  const { rows, error, onRetry, more } = usePageQuery(queryTable.webhooks.events());
  if (rows === undefined) {
    return error === null ? (
      <div aria-busy="true" className="flex flex-col gap-3">
        <p className="sr-only">Loading</p>
        <Skeleton className="h-10" />
        <Skeleton className="h-10" />
      </div>
    ) : (
      <LoadFailure title="Could not load the events." error={error} onRetry={onRetry} />
    );
  }
  if (rows.length === 0) {
    return (
      <EmptyState title="No events yet">
        When a task ends, its event appears here for 30 days, with its deliveries.
      </EmptyState>
    );
  }
  return (
    <div className="flex flex-col gap-4">
      <ul aria-label="Recent events" className="divide-y divide-line border-y border-line">
        {rows.map((event) => (
          <li key={event.id}>
            <EventRow event={event} />
          </li>
        ))}
      </ul>
      <LoadMore {...more} />
    </div>
  );
}

function EventRow({ event }: { event: WebhookEvent }) {
  const { time_zone: timeZone } = useSession().account;
  const [isOpened, setOpened] = useState(false);
  return (
    <Disclosure
      title={
        <span className="flex flex-wrap items-baseline gap-x-3">
          {event.type}
          <EventSubject event={event} />
        </span>
      }
      detail={
        <>
          <EventDelivery eventId={event.id} />
          {formatMoment(new Date(event.created * 1000).toISOString(), timeZone)}
        </>
      }
      onOpen={() => setOpened(true)}
    >
      {isOpened && <EventDetails event={event} />}
    </Disclosure>
  );
}

/** The task's type and model, and the end of its id, which tells tasks apart. */
function EventSubject({ event: { data } }: { event: WebhookEvent }) {
  const { task_id: taskId, type, model } = data as { task_id?: unknown; type?: unknown; model?: unknown };
  if (typeof taskId !== "string") return null;
  const words = [typeof type === "string" ? nameType(type) : "Task", ...(typeof model === "string" ? [model] : [])];
  return (
    <span className="text-xs font-normal text-ink-soft">
      {words.join(" · ")} · <code className="font-mono">{`…${taskId.slice(-6)}`}</code>
    </span>
  );
}

/** The worst state of its deliveries; none without a receiver. */
function EventDelivery({ eventId }: { eventId: string }) {
  const { data } = useTableQuery(queryTable.webhooks.eventDeliveries(eventId));
  if (data === undefined) return null;
  const states = data.data.map(({ status }) => status);
  const shown = (["failed", "pending", "succeeded"] as const).find((state) => states.includes(state)) ?? states[0];
  return shown === undefined ? <span>No receiver</span> : <DeliveryStatus status={shown} />;
}

function EventDetails({ event }: { event: WebhookEvent }) {
  const { data, error, refetch } = useTableQuery(queryTable.webhooks.eventDeliveries(event.id));
  const taskId = "task_id" in event.data ? event.data.task_id : null;
  return (
    <>
      {data === undefined && error === null && <Skeleton className="h-14" />}
      {data === undefined && error !== null && <LoadFailure error={error} onRetry={() => void refetch()} />}
      {data?.data.length === 0 && (
        <p className="text-sm text-ink-soft">Not delivered: there was no endpoint for it and no callback URL.</p>
      )}
      {data !== undefined && data.data.length > 0 && (
        <>
          <ul aria-label="Deliveries" className="flex flex-col gap-4">
            {data.data.map((delivery) => (
              <li key={delivery.id} className="flex flex-col gap-2 text-sm">
                <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
                  <DeliveryStatus status={delivery.status} />
                  <code className="font-mono text-xs">{delivery.url}</code>
                  {delivery.webhook_endpoint_id === undefined && <span className="text-ink-soft">callback URL</span>}
                </p>
                <Attempts delivery={delivery} />
              </li>
            ))}
          </ul>
          <ResendButton eventId={event.id} />
        </>
      )}
      <CodeBlock label="Event" code={JSON.stringify(withoutObject(event), null, 2)} />
      {typeof taskId === "string" && (
        <Link to="/console/tasks/$id" params={{ id: taskId }} className={`self-start text-sm ${linkClasses}`}>
          Open task
        </Link>
      )}
    </>
  );
}

/** As sent to receivers. */
function withoutObject({ object: _, ...event }: WebhookEvent): Omit<WebhookEvent, "object"> {
  return event;
}
