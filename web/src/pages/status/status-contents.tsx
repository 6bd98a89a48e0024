import { Fragment } from "react";
import type { ShownIncident, Uptime, UptimeLine } from "../../api/fetch-uptime.ts";
import { Badge, type BadgeKind } from "../../design/badge.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { Section } from "../../design/section.tsx";
import { formatMoment } from "../../parts/format/format-time.ts";
import { UptimeBars } from "./uptime-bars.tsx";

type State = UptimeLine["state"];

const overall: Record<State, { look: string; sentence: string }> = {
  ok: { look: "border-success bg-success-soft text-success", sentence: "All systems operational" },
  degraded: { look: "border-warning bg-warning-soft text-warning", sentence: "Some systems are degraded" },
  down: { look: "border-danger bg-danger-soft text-danger", sentence: "Service outage" },
};

const lineStates: Record<State, { kind: BadgeKind; name: string }> = {
  ok: { kind: "good", name: "Operational" },
  degraded: { kind: "warning", name: "Degraded" },
  down: { kind: "bad", name: "Down" },
};

/** The status page's data. The server renders it too, so it depends on nothing but this. */
export function StatusContents({ uptime }: { uptime: Uptime }) {
  const { state, incidents, models, endpoints, at } = uptime;
  const open = incidents.filter(({ ended_at }) => ended_at === null);
  const past = incidents.filter(({ ended_at }) => ended_at !== null);
  const { look, sentence } = overall[state];
  return (
    <>
      <div role="status" className={`rounded-md border-l-4 px-5 py-4 ${look}`}>
        <p className="text-lg font-semibold">{sentence}</p>
        <p className="text-sm text-ink-soft">As of {formatUtc(at)}.</p>
      </div>
      {open.length > 0 && (
        <Section title="Current incidents">
          <Incidents incidents={open} />
        </Section>
      )}
      <Section title="Models" intro="The last 90 days, today on the right. Days are in UTC.">
        {models.length === 0 ? (
          <EmptyState title="No models yet">Models appear here when the service offers them.</EmptyState>
        ) : (
          <Lines lines={models} />
        )}
      </Section>
      <Section title="Endpoints">
        {endpoints.length === 0 ? (
          <EmptyState title="No calls yet">Endpoints appear here after their first call.</EmptyState>
        ) : (
          <Lines lines={endpoints} />
        )}
      </Section>
      <Key />
      <Section title="Past incidents">
        {past.length === 0 ? (
          <p className="text-sm text-ink-soft">No incidents in the last 90 days.</p>
        ) : (
          <Incidents incidents={past} />
        )}
      </Section>
    </>
  );
}

function Lines({ lines }: { lines: readonly UptimeLine[] }) {
  return (
    <ul className="flex flex-col divide-y divide-line rounded-lg border border-line bg-surface">
      {lines.map((line) => {
        const { kind, name } = lineStates[line.state];
        return (
          <li key={line.id} className="flex flex-col gap-2 px-4 py-4 sm:px-5">
            <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
              <h3 className="min-w-0 font-medium break-words">{line.name}</h3>
              <p className="flex items-center gap-3 text-sm text-ink-soft">
                <span className="tabular-nums">{describeUptime(line)}</span>
                <Badge kind={kind}>{name}</Badge>
              </p>
            </div>
            <UptimeBars days={line.days} />
          </li>
        );
      })}
    </ul>
  );
}

function describeUptime({ uptime, days }: UptimeLine): string {
  if (uptime !== null) return `${uptime} %`;
  return days.every(({ state }) => state === "none") ? "No calls" : "Too few calls";
}

const keys = [
  ["text-success", "99 % or more answered"],
  ["text-warning", "95 % or more"],
  ["text-danger", "less"],
  ["text-ink-soft", "too few calls to judge"],
  ["text-line", "no calls"],
] as const;

/** What the colours mean. */
function Key() {
  return (
    <ul aria-label="Colours" className="flex flex-wrap gap-x-5 gap-y-1 text-sm text-ink-soft">
      {keys.map(([look, meaning]) => (
        <li key={meaning} className="flex items-center gap-2">
          <svg aria-hidden="true" viewBox="0 0 10 10" className={`size-2.5 fill-current ${look}`}>
            <rect width="10" height="10" rx="2" />
          </svg>
          {meaning}
        </li>
      ))}
    </ul>
  );
}

const incidentStates: Record<ShownIncident["state"], { kind: BadgeKind; name: string }> = {
  investigating: { kind: "bad", name: "Investigating" },
  identified: { kind: "warning", name: "Identified" },
  monitoring: { kind: "busy", name: "Monitoring" },
  resolved: { kind: "good", name: "Resolved" },
};

function Incidents({ incidents }: { incidents: readonly ShownIncident[] }) {
  return (
    <ul className="flex flex-col gap-4">
      {incidents.map((incident) => (
        <li key={incident.id} id={incident.id} className="rounded-lg border border-line bg-surface p-5">
          <article aria-label={incident.title}>
            <div className="flex flex-wrap items-center justify-between gap-3">
              <h3 className="min-w-0 font-semibold break-words">{incident.title}</h3>
              <Badge kind={incidentStates[incident.state].kind}>{incidentStates[incident.state].name}</Badge>
            </div>
            <p className="mt-1 text-sm text-ink-soft">
              {incident.models.length === 0 ? "The whole service" : incident.models.join(", ")}
            </p>
            <dl className="mt-4 flex flex-col gap-3 text-sm">
              {incident.updates.map((update) => (
                <Fragment key={update.created_at}>
                  <dt className="text-ink-soft">
                    <span className="font-medium text-ink">{incidentStates[update.state].name}</span>{" "}
                    <time dateTime={update.created_at}>{formatUtc(update.created_at)}</time>
                  </dt>
                  <dd className="-mt-2 whitespace-pre-line break-words">{update.message}</dd>
                </Fragment>
              ))}
            </dl>
          </article>
        </li>
      ))}
    </ul>
  );
}

/** The same on the server and everywhere else. */
function formatUtc(time: string): string {
  return `${formatMoment(time, "UTC")} UTC`;
}
