import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { buttonClasses } from "../../design/button.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { lazyPart } from "../../parts/frame/lazy-part.tsx";
import { useSession } from "../../parts/session/use-session.ts";
import { BalanceSummary } from "./balance-summary.tsx";
import { LatestCharges } from "./latest-charges.tsx";
import { refreshMs } from "./refresh-interval.ts";

const chartRefreshMs = 30_000;

/** Loaded separately: new and existing accounts need different ones, and the balance shows first. */
const FirstRun = lazy(async () => ({ default: (await import("./first-run/first-run.tsx")).FirstRun }));
const MediaExamples = lazy(async () => ({ default: (await import("../tasks/media-examples.tsx")).MediaExamples }));
const LatestTasks = lazyPart(
  async () => (await import("./latest-tasks.tsx")).LatestTasks,
  <Skeleton className="h-72" />,
);
const SpendingChart = lazy(async () => ({ default: (await import("./spending-chart.tsx")).SpendingChart }));

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
        <Suspense fallback={<Skeleton className="h-72" />}>
          <FirstRun
            charge={charges.data?.data[0]}
            taskId={tasks.data?.data[0]?.id}
            onHide={() => setFirstRun("hidden")}
          />
        </Suspense>
      )}
      <BalanceSummary timeZone={timeZone} />
      {isNew && (
        <Suspense fallback={<Skeleton className="h-56" />}>
          <MediaExamples title="Create something in the playground" />
        </Suspense>
      )}
      {!isNew && (
        <>
          <Suspense fallback={<Skeleton className="h-72" />}>
            <SpendingChart usage={usage.data} error={usage.error} onRetry={() => void usage.refetch()} />
          </Suspense>
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
