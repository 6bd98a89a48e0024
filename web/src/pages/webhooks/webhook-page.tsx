import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError, api, ask } from "../../api/console-api.ts";
import type { Endpoint } from "../../api/fetch-webhooks.ts";
import { queryTable } from "../../api/query-table.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button, buttonClasses } from "../../design/button.tsx";
import { CopyableText } from "../../design/copyable-text.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Notice } from "../../design/notice.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { describeAttempt } from "../../parts/format/delivery-labels.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { lazyPart } from "../../parts/frame/lazy-part.tsx";
import { useSession } from "../../parts/session/use-session.ts";
import { describeDisabled } from "./endpoint-labels.ts";
import { EndpointStatus } from "./webhook-endpoint-table.tsx";

const route = getRouteApi("/signed-in/console/console/webhooks/$id");

const webhooks = [{ to: "/console/webhooks", name: "Webhooks" }];

const EndpointActions = lazyPart(async () => (await import("./endpoint-actions.tsx")).EndpointActions);
const DeliveryLog = lazyPart(
  async () => (await import("./delivery-log.tsx")).DeliveryLog,
  <Skeleton className="h-64" />,
);

export function WebhookPage() {
  const { id } = route.useParams();
  const answers = useQueryCache();
  const endpoint = useTableQuery(queryTable.webhooks.endpoint(id));
  const { data, error } = endpoint;
  const refresh = () => answers.refresh("webhooks");
  const isMissing = error instanceof ApiError && error.status === 404;
  return (
    <ConsoleFrame
      title="Webhook endpoint"
      parents={webhooks}
      intro={<span className="font-mono text-sm">{data?.url ?? " "}</span>}
      actions={data !== undefined && !isMissing && <EndpointActions endpoint={data} onChanged={refresh} />}
    >
      {isMissing && (
        <EmptyState
          title="Your account has no such endpoint."
          action={
            <Link to="/console/webhooks" className={buttonClasses("plain")}>
              Go to webhooks
            </Link>
          }
        >
          It may have been deleted.
        </EmptyState>
      )}
      {data === undefined && error === null && <Skeleton className="h-64" />}
      {data === undefined && error !== null && !isMissing && (
        <LoadFailure title="Could not load the endpoint." error={error} onRetry={() => void endpoint.refetch()} />
      )}
      {data !== undefined && !isMissing && (
        <div className="flex flex-col gap-10">
          <EndpointFacts endpoint={data} />
          <DeliveryLog endpointId={data.id} />
        </div>
      )}
    </ConsoleFrame>
  );
}

function EndpointFacts({ endpoint }: { endpoint: Endpoint }) {
  const { time_zone: timeZone } = useSession().account;
  const disabled = describeDisabled(endpoint);
  const { failing_since: failingSince, previous_secret_expires_at: overlapEnd } = endpoint;
  const facts: [name: string, value: string][] = [
    ["Events", endpoint.event_types.length === 0 ? "All" : endpoint.event_types.join(", ")],
    ...(endpoint.description === undefined ? [] : [["Description", endpoint.description] as [string, string]]),
    ["Created", formatMoment(new Date(endpoint.created * 1000).toISOString(), timeZone)],
    ...(overlapEnd === undefined
      ? []
      : [["Old secret", `valid until ${formatMoment(overlapEnd, timeZone)}`] as [string, string]]),
  ];
  return (
    <div className="flex flex-col gap-5">
      {disabled !== null && (
        <Notice kind="warning" title="Endpoint disabled">
          {disabled} Enable it, then resend missed events.
        </Notice>
      )}
      {endpoint.enabled && failingSince !== undefined && (
        <Notice kind="warning" title={`No successful delivery since ${formatMoment(failingSince, timeZone)}`}>
          It is disabled after five days. See the delivery log below.
        </Notice>
      )}
      <dl className="grid gap-x-10 gap-y-4 text-sm sm:grid-cols-2 lg:grid-cols-3">
        <div>
          <dt className="text-ink-soft">Status</dt>
          <dd className="mt-1">
            <EndpointStatus endpoint={endpoint} />
          </dd>
        </div>
        {facts.map(([name, value]) => (
          <div key={name} className="min-w-0">
            <dt className="text-ink-soft">{name}</dt>
            <dd className="mt-1">{value}</dd>
          </div>
        ))}
        <div className="min-w-0">
          <dt className="text-ink-soft">ID</dt>
          <dd className="mt-1">
            <CopyableText text={endpoint.id} label="endpoint ID" />
          </dd>
        </div>
      </dl>
      {endpoint.enabled && <TestEvent endpointId={endpoint.id} />}
    </div>
  );
}

function TestEvent({ endpointId }: { endpointId: string }) {
  const answers = useQueryCache();
  const [eventId, setEventId] = useState<string | null>(null);
  const send = useAction(
    () => ask(api.POST("/webhook_endpoints/{id}/test", { params: { path: { id: endpointId } }, body: {} })),
    ({ id }) => {
      setEventId(id);
      return answers.refresh("webhooks");
    },
  );
  return (
    <div className="flex flex-col gap-3">
      <div>
        <Button isBusy={send.isBusy} onClick={() => send.run(undefined)}>
          Send test event
        </Button>
      </div>
      <FormError message={send.errorBeside()} />
      {eventId !== null && <Outcome key={eventId} eventId={eventId} />}
    </div>
  );
}

function Outcome({ eventId }: { eventId: string }) {
  const { data, error } = useTableQuery(queryTable.webhooks.eventDeliveries(eventId));
  const attempt = data?.data[0]?.attempts.at(-1);
  if (error !== null) return <Notice kind="error">{error.message}</Notice>;
  if (attempt === undefined) return <Notice kind="hint">Sending the test event …</Notice>;
  return data?.data[0]?.status === "succeeded" ? (
    <Notice kind="success" title="Test event delivered">
      Your endpoint {describeAttempt(attempt)}.
    </Notice>
  ) : (
    <Notice kind="warning" title="Test event not delivered">
      Result: {describeAttempt(attempt)}. It is retried like any other event; see the log below.
    </Notice>
  );
}
