import { usePageQuery } from "../../../api/use-page-query.ts";
import { Badge } from "../../../design/badge.tsx";
import { Button } from "../../../design/button.tsx";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { LoadMore } from "../../../design/load-more.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { formatMoment, formatSince } from "../../../parts/format/format-time.ts";
import { describeTaskStatus } from "../../../parts/format/task-labels.ts";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { AccountCell } from "../account-cell.tsx";
import { AdminLink, useAdminPlace } from "../admin-place.tsx";
import { adminQueries } from "../admin-query-table.ts";
import type { WorkTask } from "../fetch-admin.ts";
import { SearchField } from "../search-field.tsx";

const groups = [
  { value: "open", label: "Open, oldest first" },
  { value: "queued", label: "Queued" },
  { value: "processing", label: "Processing" },
  { value: "failed", label: "Failed and expired" },
  { value: "succeeded", label: "Succeeded" },
  { value: "canceled", label: "Canceled" },
] as const;

/** Tasks of all accounts. Open ones begin with the oldest. */
export function WorkTasks() {
  const { search, change } = useAdminPlace();
  const { time_zone: timeZone } = useSession().account;
  const state = groups.find(({ value }) => value === search.state)?.value ?? "open";
  const { model, provider, account } = search;
  const { rows, more, ...tasks } = usePageQuery(
    adminQueries.adminWork.tasks({
      state,
      ...(model === undefined ? {} : { model }),
      ...(provider === undefined ? {} : { provider }),
      ...(account === undefined ? {} : { account_id: account }),
    }),
  );
  const isFiltered = [model, provider, account].some((value) => value !== undefined);
  return (
    <>
      <search className="flex flex-wrap gap-3">
        <SelectField
          isCompact
          label="Status"
          options={groups}
          value={state}
          onChange={(word) => change({ state: word })}
        />
        <SearchField label="Model" value={model ?? ""} onChange={(word) => change({ model: word })} />
        <SearchField label="Upstream" value={provider ?? ""} onChange={(word) => change({ provider: word })} />
        <SearchField label="Account ID" value={account ?? ""} onChange={(word) => change({ account: word })} />
      </search>
      <DataTable
        label="Tasks"
        columns={listColumns(timeZone)}
        rows={rows}
        {...tasks}
        keyOf={({ id }) => id}
        empty={
          <EmptyState
            title={isFiltered ? "No tasks match." : "No such tasks."}
            action={
              isFiltered && (
                <Button onClick={() => change({ model: "", provider: "", account: "" })}>Show all tasks</Button>
              )
            }
          >
            {isFiltered ? "Models, upstreams and IDs must match completely." : "Nothing is stuck."}
          </EmptyState>
        }
      />
      <LoadMore {...more} />
    </>
  );
}

function listColumns(timeZone: string): Column<WorkTask>[] {
  const now = new Date();
  return [
    {
      name: "Task",
      hasNames: true,
      cell: ({ id, type, model }) => (
        <span className="flex min-w-24 flex-col">
          <AdminLink to={`tasks/${id}`} className={linkClasses}>
            {`${type}: ${model}`}
          </AdminLink>
          <code className="font-mono text-xs text-ink-soft max-sm:hidden">{id}</code>
        </span>
      ),
    },
    { name: "Account", hasNames: true, cell: (row) => <AccountCell id={row.account_id} email={row.email} /> },
    {
      name: "Status",
      cell: ({ state, progress, error_code: code }) => {
        const { kind, name } = describeTaskStatus(state);
        return (
          <span className="flex flex-col items-start gap-0.5">
            <Badge kind={kind}>{name}</Badge>
            {state === "processing" && <span className="text-xs text-ink-soft">{progress} %</span>}
            {code !== null && <code className="font-mono text-xs wrap-anywhere">{code}</code>}
          </span>
        );
      },
    },
    {
      name: "Upstream",
      hasNames: true,
      isSecondary: true,
      cell: ({ provider, is_waiting: isWaiting }) => (
        <>
          {provider ?? "–"}
          {isWaiting && <span className="block text-xs text-ink-soft">full, waiting</span>}
        </>
      ),
    },
    {
      name: "Created",
      cell: ({ created_at: createdAt }) => (
        <>
          {formatSince(createdAt, now)}
          <span className="block text-xs text-ink-soft max-sm:hidden">{formatMoment(createdAt, timeZone)}</span>
        </>
      ),
    },
  ];
}
