import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Delivery, Endpoint } from "../../api/fetch-webhooks.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Badge } from "../../design/badge.tsx";
import { CodeWord } from "../../design/code-word.tsx";
import { type Column, DataTable } from "../../design/data-table.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { describeDeliveryStatus } from "../../parts/format/delivery-labels.ts";
import { formatSince } from "../../parts/format/format-time.ts";
import { describeEndpointStatus, describeSuccess } from "./endpoint-labels.ts";

const columns: readonly Column<Endpoint>[] = [
  { name: "Endpoint", hasNames: true, cell: (endpoint) => <EndpointName endpoint={endpoint} /> },
  { name: "Events", isSecondary: true, cell: (endpoint) => <EventTypes endpoint={endpoint} /> },
  { name: "Last delivery", isSecondary: true, cell: ({ id }) => <Recent id={id}>{describeLast}</Recent> },
  { name: "Recent deliveries", isSecondary: true, cell: ({ id }) => <Recent id={id}>{describeSuccess}</Recent> },
  { name: "Status", cell: (endpoint) => <EndpointStatus endpoint={endpoint} /> },
];

export function WebhookEndpointTable({ empty }: { empty: ReactNode }) {
  const endpoints = useTableQuery(queryTable.webhooks.endpoints());
  return (
    <DataTable
      label="Webhook endpoints"
      columns={columns}
      rows={endpoints.data?.data}
      error={endpoints.error}
      onRetry={() => void endpoints.refetch()}
      keyOf={({ id }) => id}
      expectedRows={2}
      empty={empty}
    />
  );
}

function EndpointName({ endpoint: { id, url, description } }: { endpoint: Endpoint }) {
  return (
    <div className="flex max-w-80 min-w-40 flex-col gap-0.5">
      <Link
        to="/console/webhooks/$id"
        params={{ id }}
        className="line-clamp-2 font-medium hover:text-accent hover:underline"
      >
        <CodeWord className="text-[0.9em]">{url}</CodeWord>
      </Link>
      {description !== undefined && <span className="line-clamp-2 text-xs text-ink-soft">{description}</span>}
    </div>
  );
}

function EventTypes({ endpoint: { event_types: types } }: { endpoint: Endpoint }) {
  if (types.length === 0) return <span className="text-ink-soft">All</span>;
  return <span className="max-w-48">{types.join(", ")}</span>;
}

export function EndpointStatus({ endpoint }: { endpoint: Endpoint }) {
  const { kind, name } = describeEndpointStatus(endpoint);
  return <Badge kind={kind}>{name}</Badge>;
}

/** Two columns share one query. */
function Recent({ id, children }: { id: string; children(deliveries: readonly Delivery[]): string }) {
  const { data, error } = useTableQuery(queryTable.webhooks.recent(id));
  if (data !== undefined) return <span className="text-ink-soft">{children(data)}</span>;
  return error === null ? <Skeleton className="h-4 w-20" /> : <span className="text-ink-soft">Unknown</span>;
}

function describeLast([last]: readonly Delivery[]): string {
  if (last === undefined) return "None yet";
  const since = formatSince(new Date(last.created * 1000).toISOString(), new Date());
  return `${describeDeliveryStatus(last.status).name}, ${since}`;
}
