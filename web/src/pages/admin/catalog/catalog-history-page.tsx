import { useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { usePageQuery } from "../../../api/use-page-query.ts";
import { Badge, type BadgeKind } from "../../../design/badge.tsx";
import { Button } from "../../../design/button.tsx";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { LoadMore } from "../../../design/load-more.tsx";
import { Section } from "../../../design/section.tsx";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { ConsoleFrame } from "../../../parts/frame/console-frame.tsx";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { adminApi } from "../admin-api.ts";
import { AdminLink } from "../admin-place.tsx";
import { adminQueries, useAdminRefresh } from "../admin-query-table.ts";
import type { CatalogVersion, ScheduledCatalog } from "../fetch-admin.ts";
import { ReasonDialog } from "../reason-dialog.tsx";

/** Versions with who and why, and changes that wait for their time. */
export function CatalogHistoryPage() {
  return (
    <ConsoleFrame
      title="History"
      intro="Every version stays. Open one to compare it with the active version, or to go back."
      parents={[{ to: "/console/admin/catalog", name: "Catalog" }]}
    >
      <Schedules />
      <Versions />
    </ConsoleFrame>
  );
}

function Versions() {
  const { time_zone: timeZone } = useSession().account;
  const { rows, more, ...versions } = usePageQuery(adminQueries.adminCatalog.versions());
  const columns: Column<CatalogVersion>[] = [
    {
      name: "Version",
      cell: ({ id }) => (
        <AdminLink to="catalog" search={{ version: id }} className={linkClasses}>
          {id}
        </AdminLink>
      ),
    },
    {
      name: "Applied",
      cell: ({ applied_at: at }) => <span className="text-ink-soft">{formatMoment(at, timeZone)}</span>,
    },
    {
      name: "Who",
      hasNames: true,
      isSecondary: true,
      cell: ({ by }) => by ?? <span className="text-ink-soft">Not recorded</span>,
    },
    { name: "Why", hasNames: true, cell: ({ reason }) => reason ?? "" },
  ];
  return (
    <Section title="Versions">
      <DataTable
        label="List of versions"
        columns={columns}
        rows={rows}
        {...versions}
        keyOf={({ id }) => id}
        empty={<EmptyState title="No catalog was applied yet." />}
      />
      <LoadMore {...more} />
    </Section>
  );
}

const looks: Readonly<Record<ScheduledCatalog["status"], { kind: BadgeKind; name: string }>> = {
  waiting: { kind: "busy", name: "Waiting" },
  applied: { kind: "good", name: "Applied" },
  failed: { kind: "bad", name: "Failed" },
  canceled: { kind: "neutral", name: "Canceled" },
};

function Schedules() {
  const { time_zone: timeZone } = useSession().account;
  const { rows, more, ...schedules } = usePageQuery(adminQueries.adminCatalog.schedules());
  const [canceled, setCanceled] = useState<ScheduledCatalog | null>(null);
  const columns: Column<ScheduledCatalog>[] = [
    {
      name: "Time",
      cell: ({ run_at: at }) => <span className="text-ink-soft">{formatMoment(at, timeZone)}</span>,
    },
    {
      name: "Status",
      hasNames: true,
      cell: ({ status, failure, version }) => (
        <span className="flex min-w-24 flex-col items-start gap-0.5">
          <Badge kind={looks[status].kind}>{looks[status].name}</Badge>
          {version !== null && <span className="text-xs text-ink-soft">{`version ${version}`}</span>}
          {failure !== null && <span className="text-xs text-danger">{failure}</span>}
        </span>
      ),
    },
    {
      name: "Why",
      hasNames: true,
      cell: ({ reason, created_by: by }) => (
        <span className="flex min-w-24 flex-col">
          {reason}
          <span className="text-xs text-ink-soft">{by}</span>
        </span>
      ),
    },
    {
      name: "Actions",
      isNameHidden: true,
      align: "right",
      cell: (scheduled) =>
        scheduled.status === "waiting" && (
          <Button look="quiet" onClick={() => setCanceled(scheduled)}>
            Cancel
          </Button>
        ),
    },
  ];
  return (
    <Section title="Scheduled changes" intro="Applied once at their time, after another check.">
      <DataTable
        label="Waiting and past changes"
        columns={columns}
        rows={rows}
        {...schedules}
        keyOf={({ id }) => id}
        empty={<EmptyState title="Nothing is scheduled." />}
      />
      <LoadMore {...more} />
      {canceled !== null && <CancelSchedule scheduled={canceled} onClose={() => setCanceled(null)} />}
    </Section>
  );
}

function CancelSchedule({ scheduled: { id, run_at: at }, onClose }: { scheduled: ScheduledCatalog; onClose(): void }) {
  const refresh = useAdminRefresh();
  const params = { path: { schedule_id: id } };
  return (
    <ReasonDialog
      title="Cancel the scheduled change?"
      submitName="Cancel the change"
      look="danger"
      send={({ reason }) => ask(adminApi.POST("/catalog/schedules/{schedule_id}/cancel", { params, body: { reason } }))}
      done="The change is canceled."
      onDone={() => void refresh("adminCatalog")}
      onClose={onClose}
    >
      <p className="text-sm text-ink-soft">{`It would have been applied on ${formatMoment(at)}.`}</p>
    </ReasonDialog>
  );
}
