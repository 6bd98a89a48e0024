import { useState } from "react";
import { usePageQuery } from "../../../api/use-page-query.ts";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { Badge, type BadgeKind } from "../../../design/badge.tsx";
import { Button, buttonClasses } from "../../../design/button.tsx";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { LoadMore } from "../../../design/load-more.tsx";
import { Section } from "../../../design/section.tsx";
import { formatCount } from "../../../parts/format/format-money.ts";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { ConsoleFrame } from "../../../parts/frame/console-frame.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { AdminLink } from "../admin-place.tsx";
import { adminQueries } from "../admin-query-table.ts";
import type { Upstream, UpstreamEvent, UpstreamList } from "../fetch-admin.ts";
import { RouteDialog } from "./route-dialog.tsx";
import { SecretsSection } from "./secrets-section.tsx";
import { SwitchDialog } from "./switch-dialog.tsx";
import { TestDialog } from "./test-dialog.tsx";

type Chosen = { action: "switch" | "test" | "route"; upstream: Upstream };

/** Where calls go, and how well. */
export function UpstreamsPage() {
  const list = useTableQuery(adminQueries.adminUpstreams.list());
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const close = () => setChosen(null);
  return (
    <ConsoleFrame
      title="Upstreams"
      intro="Every vendor's model with each key: circuits in all processes, switches, and the calls of the last hour."
      actions={
        <AdminLink to="upstreams/add" className={buttonClasses("primary")}>
          Add a vendor
        </AdminLink>
      }
    >
      <Section title="Routes and keys">
        <DataTable
          label="List of routes"
          columns={listColumns(setChosen)}
          rows={list.data?.data}
          error={list.error}
          onRetry={() => void list.refetch()}
          keyOf={({ id }) => id}
          empty={<EmptyState title="The catalog has no routes.">Add a vendor: its key, models and prices.</EmptyState>}
        />
      </Section>
      {list.data !== undefined && <Traffic list={list.data} />}
      {list.data !== undefined && list.data.balances.length > 0 && <Balances rows={list.data.balances} />}
      <SecretsSection />
      <Timeline />
      {chosen?.action === "switch" && <SwitchDialog upstream={chosen.upstream} onClose={close} />}
      {chosen?.action === "route" && <RouteDialog upstream={chosen.upstream} onClose={close} />}
      {chosen?.action === "test" && <TestDialog provider={chosen.upstream.provider} onClose={close} />}
    </ConsoleFrame>
  );
}

function describeHealth({ switch: off, circuits }: Upstream): { kind: BadgeKind; name: string; detail: string | null } {
  if (off !== null) {
    const name = off.mode === "disabled" ? "Disabled" : "Draining";
    return { kind: "bad", name, detail: `${off.reason} (${off.by})` };
  }
  const [worst] = circuits.toSorted((a, b) => ranks.indexOf(a.state) - ranks.indexOf(b.state));
  if (worst === undefined) return { kind: "good", name: "Healthy", detail: null };
  const detail = `${worst.last_failure}, in ${circuits.length} ${circuits.length === 1 ? "process" : "processes"}`;
  if (worst.state === "degraded") return { kind: "warning", name: "Degraded", detail };
  return { kind: "bad", name: worst.state === "open" ? "Circuit open" : "Circuit half-open", detail };
}

const ranks: readonly string[] = ["open", "half-open", "degraded"];

function listColumns(choose: (chosen: Chosen) => void): Column<Upstream>[] {
  return [
    {
      name: "Route",
      hasNames: true,
      cell: ({ provider, upstream_model: model, kind }) => (
        <span className="flex min-w-28 flex-col">
          <span className="font-medium">{provider}</span>
          <code className="font-mono text-xs">{model}</code>
          <span className="text-xs text-ink-soft">{kind}</span>
        </span>
      ),
    },
    {
      name: "Key",
      hasNames: true,
      isSecondary: true,
      cell: ({ key }) => key ?? <span className="text-ink-soft">None</span>,
    },
    {
      name: "Health",
      hasNames: true,
      cell: (upstream) => {
        const { kind, name, detail } = describeHealth(upstream);
        return (
          <span className="flex min-w-24 flex-col items-start gap-0.5">
            <Badge kind={kind}>{name}</Badge>
            {detail !== null && <span className="text-xs text-ink-soft">{detail}</span>}
            {upstream.switch?.ends_at != null && (
              <span className="text-xs text-ink-soft">until {formatMoment(upstream.switch.ends_at)}</span>
            )}
            {upstream.failed_attempts > 0 && (
              <span className="text-xs text-ink-soft">
                {upstream.failed_attempts} failed, last {upstream.last_failure}
              </span>
            )}
          </span>
        );
      },
    },
    {
      name: "Models",
      hasNames: true,
      isSecondary: true,
      cell: ({ models }) => (
        <ul className="text-xs">
          {models.map(({ id, priority, weight }) => (
            <li key={id}>
              {id} <span className="text-ink-soft">{`priority ${priority}, weight ${weight}`}</span>
            </li>
          ))}
        </ul>
      ),
    },
    {
      name: "Rate limits",
      hasNames: true,
      isSecondary: true,
      cell: ({ limits }) => (
        <ul className="text-xs">
          {limits.map(({ name, limit, remaining, seen_at: at }) => (
            <li key={name} title={`Seen ${formatMoment(at)}`}>
              {name} <span className="text-ink-soft">{presentLimit(remaining, limit)}</span>
            </li>
          ))}
        </ul>
      ),
    },
    {
      name: "Actions",
      isNameHidden: true,
      align: "right",
      cell: (upstream) => (
        <span className="flex flex-wrap justify-end gap-2">
          <Button look="quiet" onClick={() => choose({ action: "test", upstream })}>
            Test
          </Button>
          <Button look="quiet" onClick={() => choose({ action: "route", upstream })}>
            Weight
          </Button>
          <Button look="quiet" onClick={() => choose({ action: "switch", upstream })}>
            {upstream.switch === null ? "Disable" : "Enable"}
          </Button>
        </span>
      ),
    },
  ];
}

function presentLimit(remaining: number | null, limit: number | null): string {
  if (remaining === null) return limit === null ? "" : `at most ${formatCount(limit)}`;
  return limit === null ? `${formatCount(remaining)} left` : `${formatCount(remaining)} of ${formatCount(limit)} left`;
}

type Balance = UpstreamList["balances"][number];

function Balances({ rows }: { rows: readonly Balance[] }) {
  const { time_zone: timeZone } = useSession().account;
  const columns: Column<Balance>[] = [
    {
      name: "Provider",
      hasNames: true,
      cell: ({ provider, key_number: key }) => (
        <span className="flex min-w-20 flex-col">
          {provider}
          <span className="text-xs text-ink-soft">{`key ${key + 1}`}</span>
        </span>
      ),
    },
    {
      name: "Balance",
      align: "right",
      cell: ({ balance, currency, low }) => (
        <span className="flex flex-col items-end gap-0.5">
          {balance === null ? "Not known" : `${balance} ${currency}`}
          {low !== null && <span className="text-xs text-ink-soft">{`alarm below ${low}`}</span>}
        </span>
      ),
    },
    {
      name: "Read",
      hasNames: true,
      cell: ({ read_at: at, failure }) => (
        <span className="flex min-w-24 flex-col">
          {at !== null && <span className="text-ink-soft">{formatMoment(at, timeZone)}</span>}
          {failure !== null && <span className="text-xs text-danger wrap-anywhere">{failure}</span>}
        </span>
      ),
    },
  ];
  return (
    <Section title="Balances at vendors" intro="Asked every ten minutes, in the vendor's currency.">
      <DataTable
        label="Balances"
        columns={columns}
        rows={rows}
        keyOf={({ provider, key_number: key }) => `${provider}/${key}`}
        empty={null}
      />
    </Section>
  );
}

type Traffic = UpstreamList["traffic"][number];

function Traffic({ list: { traffic, traffic_since: since } }: { list: UpstreamList }) {
  return (
    <Section title="Traffic" intro={`Calls of all accounts since ${formatMoment(since)}. Times are medians.`}>
      <DataTable
        label="Calls by model"
        columns={trafficColumns}
        rows={traffic}
        keyOf={({ provider, model }) => `${provider}/${model}`}
        empty={<EmptyState title="No calls in the last hour." />}
      />
    </Section>
  );
}

const trafficColumns: Column<Traffic>[] = [
  {
    name: "Provider and model",
    hasNames: true,
    cell: ({ provider, model }) => (
      <span className="flex min-w-28 flex-col">
        {provider}
        <code className="font-mono text-xs">{model}</code>
      </span>
    ),
  },
  { name: "Calls", align: "right", cell: ({ calls }) => calls },
  {
    name: "Errors",
    align: "right",
    cell: ({ calls, failed }) => (calls === 0 ? "" : `${((100 * failed) / calls).toFixed(1)} %`),
  },
  { name: "Latency", align: "right", cell: ({ latency_ms: ms }) => presentMs(ms) },
  { name: "First token", align: "right", isSecondary: true, cell: ({ first_token_ms: ms }) => presentMs(ms) },
];

function presentMs(ms: number | null): string {
  return ms === null ? "–" : `${ms} ms`;
}

const eventNames: Readonly<Record<UpstreamEvent["kind"], string>> = {
  switched_off: "Switched off",
  switched_on: "Switched on",
  secret_stored: "Key stored",
  secret_retired: "Key retired",
  catalog_applied: "Catalog applied",
  circuit_opened: "Circuit opened",
  circuit_closed: "Circuit closed",
  test_passed: "Test passed",
  test_failed: "Test failed",
};

function Timeline() {
  const { rows, more, ...events } = usePageQuery(adminQueries.adminUpstreams.events());
  const { time_zone: timeZone } = useSession().account;
  const columns: Column<UpstreamEvent>[] = [
    { name: "Time", cell: ({ at }) => <span className="text-ink-soft">{formatMoment(at, timeZone)}</span> },
    {
      name: "What",
      hasNames: true,
      cell: ({ kind, subject, detail }) => (
        <span className="flex min-w-32 flex-col">
          <span>
            {eventNames[kind]}: <code className="font-mono text-xs">{subject}</code>
          </span>
          {detail !== null && <span className="text-xs text-ink-soft">{detail}</span>}
        </span>
      ),
    },
    { name: "Who", hasNames: true, isSecondary: true, cell: ({ by }) => by ?? "" },
  ];
  return (
    <Section
      title="What happened"
      intro="Circuits over all processes: opened in the first, closed in the last. Tests and circuits stay for 90 days."
    >
      <DataTable
        label="Events"
        columns={columns}
        rows={rows}
        {...events}
        keyOf={({ id }) => id}
        empty={<EmptyState title="Nothing was changed yet." />}
      />
      <LoadMore {...more} />
    </Section>
  );
}
