import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { LoggedRequest } from "../../api/ask-requests.ts";
import { ApiError } from "../../api/console-api.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Badge } from "../../design/badge.tsx";
import { buttonClasses } from "../../design/button.tsx";
import { CodeBlock } from "../../design/code-block.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Section } from "../../design/section.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { RequestBodies } from "./request-bodies.tsx";
import { RequestCost } from "./request-cost.tsx";
import { RequestFacts } from "./request-facts.tsx";
import { RequestTiming } from "./request-timing.tsx";
import { describeEnding } from "./request-words.ts";

const route = getRouteApi("/signed-in/console/console/requests/$id");
const requests = { to: "/console/requests", name: "Requests" };

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
      <ConsoleFrame title="Request" parent={requests}>
        <LoadFailure error={error} onRetry={retry} />
      </ConsoleFrame>
    );
  }
  if (request.data === undefined || site.data === undefined) {
    return (
      <ConsoleFrame title="Request" parent={requests}>
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
    <ConsoleFrame title="Request" parent={requests}>
      <Outcome request={request.data} />
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
        <code className="font-mono text-sm wrap-anywhere">
          {request.method} {request.route ?? "unknown path"}
        </code>
      </p>
      <p className="max-w-prose text-sm text-ink-soft">
        {endings[request.ending]}
        {request.error_code !== null && (
          <>
            {" "}
            The error code is <code className="font-mono text-ink">{request.error_code}</code>:{" "}
            <Link to="/docs/guide/$chapter" params={{ chapter: "errors" }} className={linkClasses}>
              see what it means
            </Link>
            .
          </>
        )}
      </p>
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
    <ConsoleFrame title="Request not found">
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
