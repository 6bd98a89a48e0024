import { useState } from "react";
import { ApiError } from "../../../api/console-api.ts";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { Badge } from "../../../design/badge.tsx";
import { Button, buttonClasses } from "../../../design/button.tsx";
import { CodeWord } from "../../../design/code-word.tsx";
import { CopyableText } from "../../../design/copyable-text.tsx";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { type Fact, FactList } from "../../../design/fact-list.tsx";
import { LoadFailure } from "../../../design/load-failure.tsx";
import { Notice } from "../../../design/notice.tsx";
import { Section } from "../../../design/section.tsx";
import { Skeleton } from "../../../design/skeleton.tsx";
import { formatAmount } from "../../../parts/format/format-amount.ts";
import { formatCount, formatMoney } from "../../../parts/format/format-money.ts";
import { ConsoleFrame } from "../../../parts/frame/console-frame.tsx";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { describeEnding, formatInstant, formatLatency, nameWire } from "../../requests/request-labels.ts";
import { AdminLink, useAdminPlace } from "../admin-place.tsx";
import { adminQueries } from "../admin-query-table.ts";
import type { ExplainedRequest } from "../fetch-admin.ts";
import { RefundDialog } from "../refund-dialog.tsx";

const parents = [{ to: "/console/admin/requests", name: "All requests" }];

/** One request: who sent it, who served it, what the vendors said, what was charged and what it cost. */
export function ExplainedRequestPage() {
  const { id = "" } = useAdminPlace().params;
  const query = useTableQuery(adminQueries.adminRequests.one(id));
  const { data: request, error } = query;
  if (error instanceof ApiError && error.status === 404) return <NoSuchRequest />;
  return (
    <ConsoleFrame
      title={
        request === undefined ? "Request" : (request.model ?? `${request.method} ${request.route ?? "unknown path"}`)
      }
      parents={parents}
      actions={request !== undefined && <RefundButton request={request} />}
    >
      {request === undefined && error === null && <Skeleton className="h-96" />}
      {request === undefined && error !== null && (
        <LoadFailure title="Could not load the request." error={error} onRetry={() => void query.refetch()} />
      )}
      {request !== undefined && <LoadedRequest request={request} />}
    </ConsoleFrame>
  );
}

function NoSuchRequest() {
  return (
    <ConsoleFrame title="Request not found" parents={parents}>
      <EmptyState
        title="The request log has no such request."
        action={
          <AdminLink to="requests" className={buttonClasses("plain")}>
            See all requests
          </AdminLink>
        }
      >
        It was sent without a key, it has expired, or the ID is misspelled. Requests appear within a second of their
        end.
      </EmptyState>
    </ConsoleFrame>
  );
}

function RefundButton({ request: { charged, account, currency } }: { request: ExplainedRequest }) {
  const [isOpen, setOpen] = useState(false);
  if (charged === null || !/[1-9]/.test(charged.amount) || charged.refunded === charged.amount) return null;
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        Refund
      </Button>
      {isOpen && (
        <RefundDialog charge={charged} accountId={account.id} currency={currency} onClose={() => setOpen(false)} />
      )}
    </>
  );
}

function LoadedRequest({ request }: { request: ExplainedRequest }) {
  const { kind, name } = describeEnding(request);
  return (
    <>
      <div className="-mt-4 flex flex-wrap items-center gap-x-4 gap-y-1">
        <Badge kind={kind}>{name}</Badge>
        <CodeWord className="text-sm">{`${request.method} ${request.route ?? "unknown path"}`}</CodeWord>
        <CopyableText text={request.id} label="request ID" />
      </div>
      {request.error_code !== null && (
        <Notice kind="error" title={request.error_code}>
          {request.error_message ?? "The message of this error was not stored."}
        </Notice>
      )}
      <div className="grid gap-10 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="flex min-w-0 flex-col gap-10">
          <Course request={request} />
          <Money request={request} />
          {request.task !== null && <TaskFacts task={request.task} />}
        </div>
        <Sender request={request} />
      </div>
    </>
  );
}

type Attempt = ExplainedRequest["failed_attempts"][number];

const attemptColumns: readonly Column<Attempt>[] = [
  {
    name: "Upstream",
    hasNames: true,
    cell: ({ upstream, upstream_model: model, key_number: key }) => (
      <div className="flex min-w-24 flex-col items-start gap-0.5">
        <span className="font-medium">{upstream}</span>
        <span className="text-xs text-ink-soft">
          {model}, key {key}
        </span>
      </div>
    ),
  },
  {
    name: "Failure",
    hasNames: true,
    cell: ({ failure, status, code }) => (
      <div className="flex min-w-20 flex-col items-start gap-0.5">
        <Badge kind="bad">{failure}</Badge>
        <span className="text-xs text-ink-soft">{[status, code].filter((word) => word !== null).join(" ")}</span>
      </div>
    ),
  },
  {
    name: "What it said",
    hasNames: true,
    cell: ({ said, upstream_request_id: requestId }) => (
      <div className="flex min-w-32 flex-col items-start gap-0.5">
        {said === null ? <span className="text-ink-soft">Nothing</span> : <q>{said}</q>}
        {requestId !== null && <CopyableText text={requestId} label="vendor's request ID" />}
      </div>
    ),
  },
  { name: "After", align: "right", isSecondary: true, cell: ({ duration_ms: ms }) => formatLatency(ms) },
];

/** The attempts in their order, and who served it in the end. */
function Course({ request }: { request: ExplainedRequest }) {
  const { upstream, failed_attempts: attempts, status, latency_ms: latency, time_to_first_token_ms: first } = request;
  const hasServed = status < 400 && upstream !== null;
  const { upstream_request_id: requestId } = request;
  const timing = `${formatLatency(latency)} in total${first === null ? "" : `, first token after ${formatLatency(first)}`}`;
  return (
    <Section title="Course">
      {attempts.length > 0 && (
        <DataTable
          label="Failed attempts"
          columns={attemptColumns}
          rows={attempts}
          keyOf={(attempt) => String(attempts.indexOf(attempt))}
          empty={null}
        />
      )}
      <p className="text-sm">
        {upstream === null ? (
          <>No upstream was called. {timing}.</>
        ) : hasServed ? (
          <>
            Served by <span className="font-medium">{upstream}</span>
            {attempts.length > 0 &&
              ` after ${attempts.length === 1 ? "one failed attempt" : `${attempts.length} failed attempts`}`}
            . {timing}.
          </>
        ) : (
          <>
            The last upstream was <span className="font-medium">{upstream}</span>. {timing}.
          </>
        )}
      </p>
      {requestId !== null && (
        <FactList
          facts={[
            { name: "Vendor's request ID", value: <CopyableText text={requestId} label="vendor's request ID" /> },
          ]}
        />
      )}
    </Section>
  );
}

function Money({ request }: { request: ExplainedRequest }) {
  const { charged, costs, cost, margin, currency, replayed, input_tokens: input, output_tokens: output } = request;
  const facts: Fact[] = [
    ...(input === null ? [] : [{ name: "Input tokens", value: formatCount(input) }]),
    ...(output === null ? [] : [{ name: "Output tokens", value: formatCount(output) }]),
    {
      name: "Charged",
      value: charged === null ? (replayed ? "Nothing: replayed" : "Nothing") : formatAmount({ ...charged, currency }),
    },
    ...(charged !== null && /[1-9]/.test(charged.refunded)
      ? [{ name: "Refunded", value: formatAmount({ ...charged, amount: charged.refunded, currency }) }]
      : []),
    ...costs.map(({ upstream, upstream_model: model, amount }) => ({
      id: `${model}@${upstream}`,
      name: `Cost of ${model} at ${upstream}`,
      value: formatMoney(amount, currency),
    })),
    ...(cost === null && charged !== null ? [{ name: "Cost", value: "Not known: the catalog has no costs" }] : []),
    ...(margin === null
      ? []
      : [{ name: "Margin", value: <span className="font-semibold">{formatMoney(margin, currency)}</span> }]),
    ...(charged === null ? [] : [{ name: "Charge", value: <CopyableText text={charged.id} label="charge ID" /> }]),
  ];
  return (
    <Section title="Charge and margin">
      <FactList facts={facts} />
    </Section>
  );
}

function TaskFacts({ task }: { task: NonNullable<ExplainedRequest["task"]> }) {
  const { time_zone: timeZone } = useSession().account;
  const facts: (Fact | false)[] = [
    { name: "Task", value: <CopyableText text={task.id} label="task ID" /> },
    { name: "Status", value: `${task.status} (${task.phase})` },
    task.upstream !== null && { name: "Upstream", value: `${task.upstream_model ?? ""} at ${task.upstream}` },
    task.error_code !== null && { name: "Error", value: <CodeWord>{task.error_code}</CodeWord> },
    task.finished_at !== null && { name: "Finished", value: formatInstant(task.finished_at, timeZone) },
  ];
  return (
    <Section title="Task">
      <FactList facts={facts.filter((fact) => fact !== false)} />
      {task.error_message !== null && <p className="text-sm text-ink-soft">{task.error_message}</p>}
    </Section>
  );
}

function Sender({ request }: { request: ExplainedRequest }) {
  const { time_zone: timeZone } = useSession().account;
  const { account, key, wire, client_request_id: clientId, user_agent: userAgent } = request;
  const facts: (Fact | false)[] = [
    {
      name: "Account",
      value: (
        <AdminLink to={`accounts/${account.id}`} className={`wrap-anywhere ${linkClasses}`}>
          {account.email ?? account.id}
        </AdminLink>
      ),
    },
    account.suspended && { name: "Account status", value: <Badge kind="bad">Suspended</Badge> },
    { name: "Key", value: `${key.name ?? key.id}${key.revoked ? " (revoked)" : ""}` },
    { name: "Time", value: formatInstant(request.created_at, timeZone) },
    wire !== null && { name: "API", value: nameWire(wire) },
    request.error_param !== null && { name: "Param", value: <CodeWord>{request.error_param}</CodeWord> },
    clientId !== null && {
      name: "Client's request ID",
      value: <CopyableText text={clientId} label="client's request ID" />,
    },
    userAgent !== null && { name: "User agent", value: <span className="text-xs wrap-anywhere">{userAgent}</span> },
  ];
  return (
    <Section title="Customer">
      <FactList facts={facts.filter((fact) => fact !== false)} />
      <AdminLink to="requests" search={{ account: account.id }} className={`self-start text-sm ${linkClasses}`}>
        All requests of this account
      </AdminLink>
    </Section>
  );
}
