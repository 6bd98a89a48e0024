import { useState } from "react";
import { queryTable } from "../../../api/query-table.ts";
import { usePageQuery } from "../../../api/use-page-query.ts";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { Badge } from "../../../design/badge.tsx";
import { Button, buttonClasses } from "../../../design/button.tsx";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { joinClasses } from "../../../design/join-classes.ts";
import { LoadMore } from "../../../design/load-more.tsx";
import { LongName } from "../../../design/long-name.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { formatMoney, formatRoughMoney } from "../../../parts/format/format-money.ts";
import { MoneyCell } from "../../../parts/format/money-cell.tsx";
import { ConsoleFrame } from "../../../parts/frame/console-frame.tsx";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { describeEnding, formatInstant, formatLatency } from "../../requests/request-labels.ts";
import { AdminLink, type AdminSearch, useAdminPlace } from "../admin-place.tsx";
import { adminQueries } from "../admin-query-table.ts";
import type { ListedRequest, RequestQuery } from "../fetch-admin.ts";
import { readPeriod } from "../moment-filter.ts";
import { PeriodNote } from "../period-note.tsx";
import { SearchField } from "../search-field.tsx";

/** Requests are logged shortly after they end. */
const tailMs = 3_000;

/** The request log of all accounts, with the upstreams. */
export function AllRequestsPage() {
  const { search, change } = useAdminPlace();
  const { time_zone: timeZone } = useSession().account;
  const { data: site } = useTableQuery(queryTable.site.settings());
  const [isLive, setLive] = useState(true);
  const filter = readFilter(search);
  const isFiltered = Object.keys(filter).length > 0;
  const { rows, more, ...requests } = usePageQuery(adminQueries.adminRequests.list(filter), {
    decideRefreshMs: () => (isLive ? tailMs : null),
  });
  return (
    <ConsoleFrame
      title="All requests"
      intro="Every account's requests, newest first, with the upstream that served them."
      actions={<LiveSwitch isLive={isLive} onChange={setLive} />}
    >
      <div className="flex flex-col gap-4">
        <Filters search={search} onChange={change} />
        <PeriodNote />
        <DataTable
          label="Requests"
          columns={listColumns(timeZone, site?.currency)}
          rows={rows}
          {...requests}
          keyOf={({ id }) => id}
          expectedRows={10}
          empty={
            <EmptyState
              title={isFiltered ? "No requests match so far." : "No requests yet."}
              action={isFiltered && <Button onClick={() => change(noFilter)}>Show all requests</Button>}
            >
              {isFiltered
                ? "Names and IDs must match completely. Show more to search further back."
                : "A request appears here within a second of its end."}
            </EmptyState>
          }
        />
        <LoadMore {...more} />
      </div>
    </ConsoleFrame>
  );
}

const statuses = [
  { value: "", label: "All statuses" },
  { value: "2xx", label: "2xx: completed" },
  { value: "4xx", label: "4xx: rejected" },
  { value: "429", label: "429: rate limit" },
  { value: "499", label: "499: client left" },
  { value: "5xx", label: "5xx: failed" },
];

const noFilter = { account: "", key: "", model: "", upstream: "", status: "", error: "", attempts: "" };

function readFilter({ account, key, model, upstream, status, error, attempts, ...period }: AdminSearch): RequestQuery {
  const known = statuses.find(({ value }) => value !== "" && value === status)?.value;
  return {
    ...readPeriod(period),
    ...(account === undefined ? {} : { account_id: account }),
    ...(key === undefined ? {} : { key_id: key }),
    ...(model === undefined ? {} : { model }),
    ...(upstream === undefined ? {} : { upstream }),
    ...(known === undefined ? {} : { status: known }),
    ...(error === undefined ? {} : { error_code: error }),
    ...(attempts === undefined ? {} : { failed_attempts: "any" }),
  };
}

type FiltersProps = { search: AdminSearch; onChange(part: AdminSearch): void };

function Filters({ search, onChange }: FiltersProps) {
  const fields = [
    { name: "account", label: "Account ID" },
    { name: "model", label: "Model" },
    { name: "upstream", label: "Upstream" },
    { name: "error", label: "Error code" },
  ];
  return (
    <search aria-label="Filters" className="flex flex-wrap gap-3">
      {fields.map(({ name, label }) => (
        <SearchField
          key={name}
          isShort
          label={label}
          value={search[name] ?? ""}
          onChange={(value) => onChange({ [name]: value })}
        />
      ))}
      <SelectField
        isCompact
        label="Status"
        options={statuses}
        value={search.status ?? ""}
        onChange={(status) => onChange({ status })}
      />
      <SelectField
        isCompact
        label="Attempts"
        options={[
          { value: "", label: "Any attempts" },
          { value: "failed", label: "With a failed attempt" },
        ]}
        value={search.attempts ?? ""}
        onChange={(attempts) => onChange({ attempts })}
      />
    </search>
  );
}

/** Whether new requests appear automatically. */
function LiveSwitch({ isLive, onChange }: { isLive: boolean; onChange(isLive: boolean): void }) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isLive}
      aria-label="Live"
      onClick={() => onChange(!isLive)}
      className={buttonClasses("plain")}
    >
      <span
        className={joinClasses(
          "size-2 rounded-full",
          isLive ? "bg-success ring-4 ring-success-soft" : "bg-line-strong",
        )}
      />
      {isLive ? "Live" : "Paused"}
    </button>
  );
}

function listColumns(timeZone: string, currency: string | undefined): Column<ListedRequest>[] {
  return [
    {
      name: "Time",
      cell: ({ id, created_at: createdAt }) => (
        <AdminLink to={`requests/${id}`} className={`whitespace-nowrap ${linkClasses}`}>
          {formatInstant(createdAt, timeZone)}
        </AdminLink>
      ),
    },
    {
      name: "Account",
      hasNames: true,
      cell: ({ account_id: id, email }) => (
        <AdminLink to={`accounts/${id}`} className="wrap-break-word hover:text-accent hover:underline">
          <LongName>{email ?? id}</LongName>
        </AdminLink>
      ),
    },
    {
      name: "Status",
      cell: (request) => {
        const { kind, name } = describeEnding(request);
        return (
          <div className="flex flex-col items-start gap-0.5">
            <Badge kind={kind}>{name}</Badge>
            {request.error_code !== null && (
              <span className="text-xs wrap-anywhere text-ink-soft">
                <LongName>{request.error_code}</LongName>
              </span>
            )}
          </div>
        );
      },
    },
    {
      name: "Model",
      hasNames: true,
      isSecondary: true,
      cell: ({ model, method, route }) => model ?? `${method} ${route ?? "unknown path"}`,
    },
    {
      name: "Upstream",
      hasNames: true,
      isSecondary: true,
      cell: ({ upstream, failed_attempt_count: failed }) => (
        <div className="flex flex-col items-start gap-0.5">
          {upstream ?? <span className="text-ink-soft">–</span>}
          {failed > 0 && (
            <Badge kind="warning">{failed === 1 ? "1 failed attempt" : `${failed} failed attempts`}</Badge>
          )}
        </div>
      ),
    },
    { name: "Latency", align: "right", isSecondary: true, cell: ({ latency_ms: ms }) => formatLatency(ms) },
    {
      name: "Charge",
      align: "right",
      isSecondary: true,
      cell: ({ charge }) =>
        charge === null || currency === undefined ? (
          <span className="text-ink-soft">–</span>
        ) : (
          <MoneyCell figure={formatRoughMoney(charge, currency)} exact={formatMoney(charge, currency)} />
        ),
    },
  ];
}
