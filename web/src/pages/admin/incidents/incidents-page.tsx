import { useState } from "react";
import { usePageQuery } from "../../../api/use-page-query.ts";
import { Badge, type BadgeKind } from "../../../design/badge.tsx";
import { Button } from "../../../design/button.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { LoadFailure } from "../../../design/load-failure.tsx";
import { LoadMore } from "../../../design/load-more.tsx";
import { LongName } from "../../../design/long-name.tsx";
import { Skeleton } from "../../../design/skeleton.tsx";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { ConsoleFrame } from "../../../parts/frame/console-frame.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { adminQueries } from "../admin-query-table.ts";
import type { AdminIncident } from "../fetch-watch.ts";
import { IncidentDialog } from "./incident-dialog.tsx";

type Writing = { kind: "new" } | { kind: "update"; incident: AdminIncident };

/** What customers read on the status page. */
export function IncidentsPage() {
  const { rows, more, error, onRetry } = usePageQuery(adminQueries.adminIncidents.list());
  const [writing, setWriting] = useState<Writing | null>(null);
  return (
    <ConsoleFrame
      title="Incidents"
      intro="Customers read them on the status page and in its feed, within half a minute."
      actions={
        <Button look="primary" onClick={() => setWriting({ kind: "new" })}>
          Write incident
        </Button>
      }
    >
      {error !== null ? (
        <LoadFailure error={error} onRetry={onRetry} />
      ) : rows === undefined ? (
        <Skeleton className="h-64" />
      ) : rows.length === 0 ? (
        <EmptyState title="No incidents yet.">Write one when customers notice that something fails.</EmptyState>
      ) : (
        <ul aria-label="Incidents" className="flex flex-col gap-4">
          {rows.map((incident) => (
            <IncidentCard
              key={incident.id}
              incident={incident}
              onUpdate={() => setWriting({ kind: "update", incident })}
            />
          ))}
        </ul>
      )}
      <LoadMore {...more} />
      {writing !== null && (
        <IncidentDialog incident={writing.kind === "new" ? null : writing.incident} onClose={() => setWriting(null)} />
      )}
    </ConsoleFrame>
  );
}

const looks: Record<AdminIncident["status"], { kind: BadgeKind; name: string }> = {
  investigating: { kind: "bad", name: "Investigating" },
  identified: { kind: "warning", name: "Identified" },
  monitoring: { kind: "busy", name: "Monitoring" },
  resolved: { kind: "good", name: "Resolved" },
};

function IncidentCard({ incident, onUpdate }: { incident: AdminIncident; onUpdate(): void }) {
  const { time_zone: timeZone } = useSession().account;
  const { kind, name } = looks[incident.status];
  return (
    <li className="flex flex-col gap-3 rounded-lg border border-line bg-surface p-5">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="flex min-w-0 flex-col gap-1">
          <h2 className="font-semibold break-words">{incident.title}</h2>
          <p className="text-sm text-ink-soft">
            {incident.models.length === 0 ? "The whole service" : incident.models.join(", ")}
          </p>
        </div>
        <div className="flex items-center gap-3">
          <Badge kind={kind}>{name}</Badge>
          {incident.status !== "resolved" && <Button onClick={onUpdate}>Add update</Button>}
        </div>
      </div>
      <ol className="flex flex-col gap-2 text-sm">
        {incident.updates.map((update) => (
          <li key={update.created_at} className="flex flex-col gap-0.5">
            <span className="text-ink-soft">
              {looks[update.status].name}, {formatMoment(update.created_at, timeZone)}, by{" "}
              <LongName>{update.created_by}</LongName>
            </span>
            <span className="whitespace-pre-line break-words">{update.message}</span>
          </li>
        ))}
      </ol>
    </li>
  );
}
