import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Charge, Hold } from "../../api/fetch-spending.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { buttonClasses } from "../../design/button.tsx";
import { DataTable } from "../../design/data-table.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Section } from "../../design/section.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { formatAmount } from "../../parts/format/format-amount.ts";
import { formatMoment, formatSince } from "../../parts/format/format-time.ts";
import { Money } from "../../parts/format/money.tsx";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { lazyPart } from "../../parts/frame/lazy-part.tsx";
import { BucketList } from "../../parts/records/bucket-list.tsx";
import { listChargeColumns } from "../../parts/records/charge-columns.tsx";
import { useSession } from "../../parts/session/use-session.ts";
import { refreshMs } from "./refresh-interval.ts";

const chartRefreshMs = 30_000;

/** Loaded separately: new and existing accounts need different ones, and the balance shows first. */
const FirstRun = lazyPart(
  async () => (await import("./first-run/first-run.tsx")).FirstRun,
  <Skeleton className="h-72" />,
);
const MediaExamples = lazyPart(
  async () => (await import("../tasks/media-examples.tsx")).MediaExamples,
  <Skeleton className="h-56" />,
);
const LatestTasks = lazyPart(
  async () => (await import("./latest-tasks.tsx")).LatestTasks,
  <Skeleton className="h-72" />,
);
const SpendingChart = lazyPart(
  async () => (await import("./spending-chart.tsx")).SpendingChart,
  <Skeleton className="h-72" />,
);

export function OverviewPage() {
  const { time_zone: timeZone } = useSession().account;
  const usage = useTableQuery(queryTable.usage.report({ group_by: "day,model" }), { refreshMs: chartRefreshMs });
  const charges = useTableQuery(queryTable.charges.latest(), { refreshMs });
  const tasks = useTableQuery(queryTable.tasks.latest(), { refreshMs });
  const isNew = charges.data?.data.length === 0 && tasks.data?.data.length === 0;
  // It stays after the first call, since it shows the key once, until hidden or left.
  const [firstRun, setFirstRun] = useState<"never" | "shown" | "hidden">("never");
  if (isNew && firstRun === "never") setFirstRun("shown");
  return (
    <ConsoleFrame
      title="Overview"
      actions={
        isNew ? undefined : (
          <Link to="/console/playground" className={buttonClasses("primary")}>
            Open the playground
          </Link>
        )
      }
    >
      {firstRun === "shown" && (
        <FirstRun
          charge={charges.data?.data[0]}
          taskId={tasks.data?.data[0]?.id}
          onHide={() => setFirstRun("hidden")}
        />
      )}
      <BalanceSummary timeZone={timeZone} />
      {isNew && <MediaExamples title="Create something in the playground" />}
      {!isNew && (
        <>
          <SpendingChart usage={usage.data} error={usage.error} onRetry={() => void usage.refetch()} />
          <div className="grid gap-x-12 gap-y-10 xl:grid-cols-2">
            <LatestCharges
              rows={charges.data?.data}
              error={charges.error}
              onRetry={() => void charges.refetch()}
              timeZone={timeZone}
            />
            <LatestTasks rows={tasks.data?.data} error={tasks.error} onRetry={() => void tasks.refetch()} />
          </div>
        </>
      )}
    </ConsoleFrame>
  );
}

type LatestChargesProps = { rows: Charge[] | undefined; error: Error | null; onRetry(): void; timeZone: string };

function LatestCharges({ rows, error, onRetry, timeZone }: LatestChargesProps) {
  const { data: site } = useTableQuery(queryTable.site.settings());
  const { data: keyNames } = useTableQuery(queryTable.keys.names());
  const columns = listChargeColumns({ timeZone, currency: site?.currency, keyNames, rows });
  return (
    <Section
      title="Latest calls"
      actions={
        <Link to="/console/usage" search={{ bar: "all" }} className={buttonClasses("quiet", "-mr-2")}>
          See all
        </Link>
      }
    >
      <DataTable
        label="List of the latest calls"
        columns={columns.filter(({ name }) => name !== "Key")}
        rows={rows}
        error={error}
        onRetry={onRetry}
        keyOf={({ id }) => id}
        empty={<EmptyState title="No calls yet">Calls appear here when they end.</EmptyState>}
      />
    </Section>
  );
}

function BalanceSummary({ timeZone }: { timeZone: string }) {
  const balance = useTableQuery(queryTable.balance.now(), { refreshMs });
  if (balance.error !== null && balance.data === undefined) {
    return <LoadFailure error={balance.error} onRetry={() => void balance.refetch()} />;
  }
  const { available_balance: available, frozen_balance: held, currency = "USD" } = balance.data ?? {};
  return (
    <div className="grid gap-x-12 gap-y-10 lg:grid-cols-2">
      <Section
        title="Available balance"
        actions={
          <Link to="/console/billing" className={buttonClasses("quiet", "-mr-2")}>
            Add credit
          </Link>
        }
      >
        <Amount amount={available} currency={currency} />
        <BucketList currency={currency} timeZone={timeZone} include="all" refreshMs={refreshMs} />
      </Section>
      <Section title="On hold">
        <Amount amount={held} currency={currency} />
        <HoldList currency={currency} timeZone={timeZone} />
      </Section>
    </div>
  );
}

function Amount({ amount, currency }: { amount: string | undefined; currency: string }) {
  return (
    <div className="-mt-2 min-h-9 text-2xl font-semibold tabular-nums">
      {amount === undefined ? <Skeleton className="h-9 w-40" /> : <Money amount={amount} currency={currency} />}
    </div>
  );
}

type HoldListProps = { currency: string; timeZone: string };

function HoldList({ currency, timeZone }: HoldListProps) {
  const holds = useTableQuery(queryTable.balance.holds(), { refreshMs });
  if (holds.error !== null && holds.data === undefined) {
    return <LoadFailure error={holds.error} onRetry={() => void holds.refetch()} />;
  }
  if (holds.data === undefined) return <Skeleton className="h-11" />;
  if (holds.data.data.length === 0) {
    return (
      <p className="border-y border-line py-2.5 text-sm text-ink-soft">
        Nothing is on hold. While a call or task runs, its maximum cost is on hold; the rest is released when it ends.
      </p>
    );
  }
  return (
    <div className="flex flex-col gap-2">
      <ul aria-label="Holds" className="divide-y divide-line border-y border-line text-sm">
        {holds.data.data.map((hold) => (
          <li key={hold.id} className="flex items-baseline justify-between gap-6 py-2.5">
            <HoldReason hold={hold} timeZone={timeZone} />
            <span className="whitespace-nowrap tabular-nums">{formatAmount({ ...hold, currency })}</span>
          </li>
        ))}
      </ul>
      {holds.data.has_more && <p className="text-xs text-ink-soft">Only the newest holds are shown.</p>}
    </div>
  );
}

function HoldReason({ hold, timeZone }: { hold: Hold; timeZone: string }) {
  const opened = new Date(hold.opened * 1000).toISOString();
  const expires = new Date(hold.expires * 1000).toISOString();
  return (
    <div className="min-w-0">
      {hold.task_id === null ? (
        <span className="font-medium">Call</span>
      ) : (
        <Link
          to="/console/tasks/$id"
          params={{ id: hold.task_id }}
          className="font-medium hover:text-accent hover:underline"
        >
          Task of {hold.model ?? hold.task_id}
        </Link>
      )}
      <p className="text-xs text-ink-soft">
        opened {formatSince(opened, new Date())}, expires {formatMoment(expires, timeZone)}
      </p>
    </div>
  );
}
