import { usePageQuery } from "../../../api/use-page-query.ts";
import { Badge, type BadgeKind } from "../../../design/badge.tsx";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { LoadMore } from "../../../design/load-more.tsx";
import { Section } from "../../../design/section.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { ConsoleFrame } from "../../../parts/frame/console-frame.tsx";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { AdminLink, useAdminPlace } from "../admin-place.tsx";
import { adminQueries } from "../admin-query-table.ts";
import type { AlarmFilter, ListedAlarm } from "../fetch-watch.ts";
import { AlarmRules } from "./alarm-rules.tsx";

const refreshMs = 30_000;

const statusOptions = [
  { value: "open", label: "Open alarms" },
  { value: "resolved", label: "Resolved alarms" },
  { value: "all", label: "All alarms" },
] as const;

/** What is wrong now, what was, and the rules. */
export function AlarmsPage() {
  const { search, change } = useAdminPlace();
  const { time_zone: timeZone } = useSession().account;
  const status: AlarmFilter["status"] = statusOptions.find(({ value }) => value === search.status)?.value ?? "open";
  const { rows, more, ...alarms } = usePageQuery(adminQueries.adminAlarms.list({ status }), {
    decideRefreshMs: () => refreshMs,
  });
  return (
    <ConsoleFrame title="Alarms" intro="Rules are read every minute. Operators get alarms by mail, webhook and chat.">
      <div className="flex flex-col gap-4">
        <search className="flex flex-wrap gap-3">
          <SelectField
            isCompact
            label="Status"
            options={statusOptions}
            value={status}
            onChange={(value) => change({ status: value === "open" ? "" : value })}
          />
        </search>
        <DataTable
          label="Alarms"
          columns={listColumns(timeZone)}
          rows={rows}
          {...alarms}
          keyOf={({ id }) => id}
          empty={
            <EmptyState title={status === "open" ? "No open alarms." : "No alarms."}>
              An alarm appears here when a rule is met.
            </EmptyState>
          }
        />
        <LoadMore {...more} />
      </div>
      <Section title="Rules" intro="Changes are in force with the next check. The run-book says what to do.">
        <AlarmRules />
      </Section>
    </ConsoleFrame>
  );
}

const looks: Record<ListedAlarm["status"], { kind: BadgeKind; name: string }> = {
  firing: { kind: "bad", name: "Firing" },
  acknowledged: { kind: "busy", name: "Acknowledged" },
  silenced: { kind: "neutral", name: "Silenced" },
  resolved: { kind: "good", name: "Resolved" },
};

export function AlarmStatus({ status }: { status: ListedAlarm["status"] }) {
  return <Badge kind={looks[status].kind}>{looks[status].name}</Badge>;
}

function listColumns(timeZone: string): Column<ListedAlarm>[] {
  return [
    {
      name: "Alarm",
      hasNames: true,
      cell: ({ id, title, message }) => (
        <div className="flex min-w-32 flex-col items-start gap-0.5">
          <AdminLink to={`alarms/${id}`} className={linkClasses}>
            {title}
          </AdminLink>
          <span className="text-sm text-ink-soft">{message}</span>
        </div>
      ),
    },
    { name: "Status", cell: ({ status }) => <AlarmStatus status={status} /> },
    { name: "Severity", isSecondary: true, cell: ({ severity }) => (severity === "page" ? "Page" : "Ticket") },
    {
      name: "Since",
      isSecondary: true,
      cell: ({ began_at: beganAt }) => (
        <span className="whitespace-nowrap text-ink-soft">{formatMoment(beganAt, timeZone)}</span>
      ),
    },
  ];
}
