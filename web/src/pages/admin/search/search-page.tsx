import { Navigate } from "@tanstack/react-router";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { Badge } from "../../../design/badge.tsx";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { LongName } from "../../../design/long-name.tsx";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { ConsoleFrame } from "../../../parts/frame/console-frame.tsx";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { AccountCell } from "../account-cell.tsx";
import { AdminLink, useAdminPlace } from "../admin-place.tsx";
import { adminQueries } from "../admin-query-table.ts";
import type { AdminHit } from "../fetch-admin.ts";

/** What a search found. A whole id opens its page at once. */
export function SearchPage() {
  const { find = "" } = useAdminPlace().search;
  const { time_zone: timeZone } = useSession().account;
  const results = useTableQuery(adminQueries.adminSearch.found(find), { isEnabled: find !== "" });
  const rows = find === "" ? [] : results.data?.data;
  const [only] = rows?.length === 1 ? rows : [];
  const place = only === undefined || only.id !== find.toLowerCase() ? null : findPlace(only);
  if (place !== null) return <Navigate to="/console/admin/$" params={{ _splat: place }} replace />;
  return (
    <ConsoleFrame title="Search">
      <DataTable
        label="Results"
        columns={listColumns(timeZone)}
        rows={rows}
        error={results.error}
        onRetry={() => void results.refetch()}
        keyOf={({ object, id }) => `${object} ${id}`}
        empty={
          <EmptyState title={find === "" ? "Find anything" : "Nothing matches."}>
            A part of an e-mail address or name; the ID of a request, account, key, task, charge, payment, file or
            event, or its first eight characters; a whole API key or its last four characters; a payment's ID at Stripe;
            a vendor's ID of a request or a recent task; a client's own request ID.
          </EmptyState>
        }
      />
      {results.data?.requests_from != null && (
        <p className="text-sm text-ink-soft">
          The request log was searched back to {formatMoment(results.data.requests_from, timeZone)}. Reading more of it
          would take too long.
        </p>
      )}
    </ConsoleFrame>
  );
}

const kindNames: Readonly<Record<AdminHit["object"], string>> = {
  account: "Account",
  key: "API key",
  admin_key: "Admin key",
  task: "Task",
  charge: "Charge",
  ledger_entry: "Ledger entry",
  hold: "Hold",
  payment: "Payment",
  file: "File",
  event: "Event",
  webhook_endpoint: "Webhook endpoint",
  request: "Request",
};

/** The page that explains a hit: its request, else its account. */
function findPlace({ object, id, request_id: requestId, account_id: accountId }: AdminHit): string | null {
  if (object === "account") return `accounts/${id}`;
  if (requestId !== null) return `requests/${requestId}`;
  return accountId === null ? null : `accounts/${accountId}`;
}

function listColumns(timeZone: string): Column<AdminHit>[] {
  return [
    { name: "Kind", cell: ({ object }) => <Badge>{kindNames[object]}</Badge> },
    {
      name: "Name",
      hasNames: true,
      cell: (hit) => {
        const place = findPlace(hit);
        return (
          <div className="flex min-w-32 flex-col items-start gap-0.5">
            {place === null ? (
              <LongName>{hit.name}</LongName>
            ) : (
              <AdminLink to={place} className={linkClasses}>
                <LongName>{hit.name}</LongName>
              </AdminLink>
            )}
            <code className="font-mono text-xs text-ink-soft max-sm:hidden">{hit.id}</code>
          </div>
        );
      },
    },
    {
      name: "Account",
      hasNames: true,
      isSecondary: true,
      cell: ({ account_id: id, email }) => (id === null ? "–" : <AccountCell id={id} email={email} />),
    },
    { name: "Status", isSecondary: true, cell: ({ status }) => status ?? "–" },
    {
      name: "Created",
      isSecondary: true,
      cell: ({ created_at: createdAt }) => <span className="text-ink-soft">{formatMoment(createdAt, timeZone)}</span>,
    },
  ];
}
