import { useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { usePageQuery } from "../../../api/use-page-query.ts";
import { Badge } from "../../../design/badge.tsx";
import { Button } from "../../../design/button.tsx";
import { CodeWord } from "../../../design/code-word.tsx";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { LoadMore } from "../../../design/load-more.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { useSession } from "../../../parts/session/use-session.ts";
import { AccountCell } from "../account-cell.tsx";
import { adminApi } from "../admin-api.ts";
import { useAdminPlace } from "../admin-place.tsx";
import { adminQueries, useAdminRefresh } from "../admin-query-table.ts";
import type { Delivery } from "../fetch-admin.ts";
import { ReasonDialog } from "../reason-dialog.tsx";
import { SearchField } from "../search-field.tsx";

const groups = [
  { value: "failing", label: "Failing" },
  { value: "pending", label: "Pending" },
  { value: "failed", label: "Given up" },
  { value: "succeeded", label: "Delivered" },
] as const;

const looks: Readonly<Record<string, "neutral" | "good" | "busy" | "bad">> = {
  pending: "busy",
  succeeded: "good",
  failed: "bad",
  dropped: "neutral",
};

/** Webhook deliveries of all accounts, those that fail first. */
export function Deliveries() {
  const { search, change } = useAdminPlace();
  const { time_zone: timeZone } = useSession().account;
  const [chosen, setChosen] = useState<Delivery | null>(null);
  const refresh = useAdminRefresh();
  const state = groups.find(({ value }) => value === search.state)?.value ?? "failing";
  const { account } = search;
  const { rows, more, ...deliveries } = usePageQuery(
    adminQueries.adminWork.deliveries({ state, ...(account === undefined ? {} : { account_id: account }) }),
  );
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
        <SearchField label="Account ID" value={account ?? ""} onChange={(word) => change({ account: word })} />
      </search>
      <DataTable
        label="Deliveries"
        columns={listColumns(timeZone, setChosen)}
        rows={rows}
        {...deliveries}
        keyOf={({ id }) => id}
        empty={<EmptyState title="No such deliveries.">Deliveries whose attempts fail appear here.</EmptyState>}
      />
      <LoadMore {...more} />
      {chosen !== null && (
        <ReasonDialog
          title="Deliver this event again?"
          submitName="Deliver again"
          send={({ reason }) =>
            ask(
              adminApi.POST("/events/{event_id}/resend", {
                params: { path: { event_id: chosen.event_id } },
                body: { reason },
              }),
            )
          }
          done="The event is due now."
          onDone={() => void refresh("adminWork", "adminToday")}
          onClose={() => setChosen(null)}
        />
      )}
    </>
  );
}

function listColumns(timeZone: string, onResend: (delivery: Delivery) => void): Column<Delivery>[] {
  return [
    {
      name: "Event",
      hasNames: true,
      cell: ({ event_type: type, event_id: id, created_at: createdAt }) => (
        <span className="flex min-w-24 flex-col">
          {type}
          <span className="text-xs text-ink-soft">{formatMoment(createdAt, timeZone)}</span>
          <code className="font-mono text-xs text-ink-soft max-sm:hidden">{id}</code>
        </span>
      ),
    },
    {
      name: "Account",
      hasNames: true,
      isSecondary: true,
      cell: (row) => <AccountCell id={row.account_id} email={row.email} />,
    },
    {
      name: "URL",
      hasNames: true,
      isSecondary: true,
      cell: ({ url }) => <CodeWord className="text-[0.9em]">{url}</CodeWord>,
    },
    {
      name: "Status",
      cell: ({ state, attempts, last_status: status, last_error: error }) => (
        <span className="flex flex-col items-start gap-0.5">
          <Badge kind={looks[state] ?? "neutral"}>{state}</Badge>
          <span className="text-xs text-ink-soft">{`${attempts} attempts${status === null ? "" : `, ${status}`}`}</span>
          {error !== null && status === null && <span className="text-xs text-ink-soft">{error}</span>}
        </span>
      ),
    },
    {
      name: "Next attempt",
      isSecondary: true,
      cell: ({ next_attempt_at: nextAt }) => (nextAt === null ? "–" : formatMoment(nextAt, timeZone)),
    },
    {
      name: "Actions",
      isNameHidden: true,
      align: "right",
      cell: (delivery) => (
        <Button look="quiet" aria-label={`Deliver ${delivery.event_id} again`} onClick={() => onResend(delivery)}>
          Deliver again
        </Button>
      ),
    },
  ];
}
