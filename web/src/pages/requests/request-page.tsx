import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ApiError } from "../../api/console-api.ts";
import type { LoggedRequest } from "../../api/fetch-requests.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Badge } from "../../design/badge.tsx";
import { buttonClasses } from "../../design/button.tsx";
import { CodeBlock } from "../../design/code-block.tsx";
import { CodeWord } from "../../design/code-word.tsx";
import { CopyableText } from "../../design/copyable-text.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { type Fact, FactList } from "../../design/fact-list.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Section } from "../../design/section.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { Stat } from "../../design/stat.tsx";
import { formatCount, formatMoney } from "../../parts/format/format-money.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { useSession } from "../../parts/session/use-session.ts";
import { RequestBodies } from "./request-bodies.tsx";
import { RequestError } from "./request-error.tsx";
import { describeEnding, formatInstant, formatLatency, nameRequest, nameWire } from "./request-labels.ts";

const route = getRouteApi("/signed-in/console/console/requests/$id");
const requests = [{ to: "/console/requests", name: "Requests" }];

export function RequestPage() {
  const { id } = route.useParams();
  const request = useTableQuery(queryTable.requests.one(id));
  const site = useTableQuery(queryTable.site.settings());
  const error = request.error ?? site.error;
  if (error instanceof ApiError && error.status === 404) return <NoSuchRequest />;
  if (error !== null) {
    const retry = () => {
      void request.refetch();
      void site.refetch();
    };
    return (
      <ConsoleFrame title="Request" parents={requests}>
        <LoadFailure error={error} onRetry={retry} />
      </ConsoleFrame>
    );
  }
  if (request.data === undefined || site.data === undefined) {
    return (
      <ConsoleFrame title="Request" parents={requests}>
        <div aria-busy="true" className="flex flex-col gap-8">
          <p className="sr-only">Loading</p>
          <Skeleton className="h-16" />
          <Skeleton className="h-72" />
        </div>
      </ConsoleFrame>
    );
  }
  const { base_url: baseUrl, currency, content_log_days: contentDays } = site.data;
  return (
    <ConsoleFrame title={nameRequest(request.data)} parents={requests}>
      <Outcome request={request.data} />
      <RequestError request={request.data} />
      <div className="grid gap-x-12 gap-y-10 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="flex min-w-0 flex-col gap-10">
          <RequestTiming request={request.data} />
          <RequestCost request={request.data} currency={currency} />
          {contentDays > 0 && request.data.method !== "GET" && (
            <RequestBodies request={request.data} days={contentDays} />
          )}
          <Section title="Get it from the API" intro="Requires a key with access to usage.">
            <CodeBlock label="curl" code={writeCurl(baseUrl, request.data.id)} />
          </Section>
        </div>
        <RequestFacts request={request.data} />
      </div>
    </ConsoleFrame>
  );
}

function Outcome({ request }: { request: LoggedRequest }): ReactNode {
  const { kind, name } = describeEnding(request);
  return (
    <div className="-mt-4 flex flex-col gap-2">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Badge kind={kind}>{name}</Badge>
        <CodeWord className="text-sm">{`${request.method} ${request.route ?? "unknown path"}`}</CodeWord>
      </p>
      <p className="max-w-prose text-sm text-ink-soft">{endings[request.ending]}</p>
    </div>
  );
}

const endings: Readonly<Record<LoggedRequest["ending"], string>> = {
  answered: "Completed.",
  refused: "Rejected. Change the request before you send it again.",
  failed: "Failed on our side. Retry the same request.",
  hung_up: "The client closed the connection before the response was complete.",
  broken_off: "The response started, then failed before it was complete.",
};

function writeCurl(baseUrl: string, id: string): string {
  return `curl ${baseUrl}/requests/${id} \\\n  -H "Authorization: Bearer $SLUICE_API_KEY"`;
}

function NoSuchRequest() {
  return (
    <ConsoleFrame title="Request not found" parents={requests}>
      <EmptyState
        title="Your request log has no such request."
        action={
          <Link to="/console/requests" className={buttonClasses("plain")}>
            See your requests
          </Link>
        }
      >
        Requests appear within a second of their end and are deleted after the retention period. The ID may also be
        misspelled, or belong to another account.
      </EmptyState>
    </ConsoleFrame>
  );
}

function RequestTiming({ request }: { request: LoggedRequest }) {
  const { latency_ms: latency, time_to_first_token_ms: first, tokens } = request;
  const streamedMs = first === null ? 0 : latency - first;
  const speed = tokens === null || streamedMs <= 0 ? null : Math.round((tokens.output * 1000) / streamedMs);
  return (
    <Section title="Timing">
      <div className="grid grid-cols-2 gap-x-8 gap-y-5 sm:grid-cols-3">
        <Stat label="Latency" value={formatLatency(latency)} />
        <Stat label="Time to first token" value={first === null ? "–" : formatLatency(first)} />
        <Stat label="Tokens per second" value={speed === null ? "–" : speed} />
      </div>
      {first !== null && latency > 0 && (
        <div aria-hidden="true" className="flex h-2 gap-0.5 overflow-hidden rounded-full bg-line">
          <div className="bg-line-strong" style={{ width: `${Math.min(100, (first / latency) * 100)}%` }} />
          <div className="flex-1 bg-accent" />
        </div>
      )}
    </Section>
  );
}

function RequestFacts({ request }: { request: LoggedRequest }) {
  const { time_zone: timeZone } = useSession().account;
  const { data: keyNames } = useTableQuery(queryTable.keys.names());
  const { model, key_id: keyId, wire, client_request_id: clientId, user_agent: userAgent } = request;
  const facts: (Fact | false)[] = [
    { name: "Time", value: formatInstant(request.created_at, timeZone) },
    model !== null && {
      name: "Model",
      value: (
        <Link to="/console/models/$" params={{ _splat: model }} className={linkClasses}>
          {model}
        </Link>
      ),
    },
    wire !== null && { name: "API", value: nameWire(wire) },
    {
      name: "Key",
      value: (
        <Link to="/console/keys" search={{ key: keyId }} className={linkClasses}>
          {keyNames?.get(keyId) ?? keyId}
        </Link>
      ),
    },
    { name: "Request ID", value: <CopyableText text={request.id} label="request ID" /> },
    clientId !== null && { name: "Your request ID", value: <CopyableText text={clientId} label="your request ID" /> },
    userAgent !== null && { name: "User agent", value: <span className="text-xs wrap-anywhere">{userAgent}</span> },
    { name: "Replayed", value: request.replayed ? "Yes, by its Idempotency-Key" : "No" },
  ];
  return (
    <section aria-label="Details" className="flex flex-col gap-3">
      <h2 className="font-semibold">Details</h2>
      <FactList facts={facts.filter((fact) => fact !== false)} />
      <Link
        to="/console/requests"
        search={{ key: keyId, ...(model === null ? {} : { model }) }}
        className={`self-start text-sm ${linkClasses}`}
      >
        Requests with this key{model === null ? "" : " and model"}
      </Link>
    </section>
  );
}

type Tokens = NonNullable<LoggedRequest["tokens"]>;

const tokenNames: readonly { name: string; field: keyof Tokens; isPart: boolean }[] = [
  { name: "Input tokens", field: "input", isPart: false },
  { name: "Read from cache", field: "cached_input", isPart: true },
  { name: "Written to cache", field: "cache_writes", isPart: true },
  { name: "Audio", field: "audio_input", isPart: true },
  { name: "Output tokens", field: "output", isPart: false },
  { name: "Reasoning", field: "reasoning", isPart: true },
  { name: "Audio", field: "audio_output", isPart: true },
];

function RequestCost({ request, currency }: { request: LoggedRequest; currency: string }) {
  const { tokens, charge, charge_id: chargeId, task_id: taskId } = request;
  const facts = [
    ...(tokens === null ? [] : listTokens(tokens)),
    { name: "Cost", value: describeCost(request, currency) },
  ];
  return (
    <Section
      title="Tokens and cost"
      actions={
        <>
          {chargeId !== null && (
            <Link to="/console/usage/charges/$id" params={{ id: chargeId }} className={buttonClasses("plain")}>
              Open charge
            </Link>
          )}
          {taskId !== null && (
            <Link to="/console/tasks/$id" params={{ id: taskId }} className={buttonClasses("plain")}>
              Open task
            </Link>
          )}
        </>
      }
    >
      <FactList facts={facts} />
      {charge === null && taskId !== null && <p className="text-sm text-ink-soft">A task is charged when it ends.</p>}
    </Section>
  );
}

/** Parts of input and output, listed below them if present. */
function listTokens(tokens: Tokens): Fact[] {
  return tokenNames.flatMap(({ name, field, isPart }) => {
    const count = tokens[field];
    if (isPart && count === 0) return [];
    return [{ id: field, name: isPart ? `of which ${name.toLowerCase()}` : name, value: formatCount(count) }];
  });
}

function describeCost({ charge, replayed }: LoggedRequest, currency: string) {
  if (charge !== null) return <span className="font-semibold">{formatMoney(charge, currency)}</span>;
  return replayed ? "Nothing: an earlier response was replayed" : "Nothing was charged";
}
