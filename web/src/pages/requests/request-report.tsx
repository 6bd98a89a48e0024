import { lazy, Suspense, useMemo } from "react";
import type { RequestSummary } from "../../api/fetch-requests.ts";
import type { ChartBar } from "../../design/chart-bar.ts";
import { LazyBarChart } from "../../design/lazy-bar-chart.tsx";
import { getSeriesColour } from "../../design/series-colours.ts";
import { Skeleton } from "../../design/skeleton.tsx";
import { Stat } from "../../design/stat.tsx";
import { formatCount } from "../../parts/format/format-money.ts";
import { writeTick } from "../../parts/format/write-tick.ts";
import { arrangeSummary, findBucketSpan, writeErrorRate } from "./arrange-summary.ts";
import type { LatencyPoint } from "./latency-chart.tsx";
import { percentiles } from "./percentiles.ts";
import { formatLatency } from "./request-labels.ts";

/** Loaded with the other chart: both share a library. */
const LatencyChart = lazy(async () => ({ default: (await import("./latency-chart.tsx")).LatencyChart }));

type RequestReportProps = {
  summary: RequestSummary | undefined;
  /** The charts' part of the period. */
  charted: RequestSummary | undefined;
  timeZone: string;
  onSpan(span: { from: string; to: string }): void;
};

/** Counts, error rate and latency; a bar links to its own period. */
export function RequestReport({ summary, charted, timeZone, onSpan }: RequestReportProps) {
  return (
    <div className="flex flex-col gap-6">
      <Figures summary={summary} />
      {charted === undefined ? (
        <div aria-busy="true" className="grid gap-8 lg:grid-cols-2">
          <Skeleton className="h-60" />
          <Skeleton className="h-60 max-lg:hidden" />
        </div>
      ) : (
        <Charts summary={charted} timeZone={timeZone} onSpan={onSpan} />
      )}
      {summary?.partial === true && (
        <p className="text-sm text-ink-soft">
          Only the newest {formatCount(summary.total.count)} requests are counted. Choose a shorter period to count all.
        </p>
      )}
    </div>
  );
}

function Figures({ summary }: { summary: RequestSummary | undefined }) {
  const total = summary?.total;
  const latency = (id: "p50" | "p95" | "p99") => {
    if (total === undefined) return undefined;
    return total.latency_ms === null ? "–" : formatLatency(total.latency_ms[id]);
  };
  return (
    <div className="flex flex-wrap gap-y-5 *:basis-1/3 sm:*:flex-1 max-sm:*:nth-[-n+2]:basis-1/2">
      <Stat label="Requests" value={total === undefined ? undefined : formatCount(total.count)} />
      <Stat label="Error rate" value={total === undefined ? undefined : writeErrorRate(total)} />
      <Stat label="Latency p50" value={latency("p50")} />
      <Stat label="Latency p95" value={latency("p95")} />
      <Stat label="Latency p99" value={latency("p99")} />
    </div>
  );
}

function Charts({ summary, timeZone, onSpan }: Omit<RequestReportProps, "charted"> & { summary: RequestSummary }) {
  // The charts are expensive, and the page renders with every answer of its queries.
  const bars = useMemo(() => arrangeSummary(summary, timeZone), [summary, timeZone]);
  const points = useMemo(() => arrangeLatency(summary, bars), [summary, bars]);
  return (
    <div className="grid gap-x-10 gap-y-8 lg:grid-cols-2">
      <div className="flex min-w-0 flex-col gap-3">
        <ChartTitle title="Requests by status" />
        <LazyBarChart
          label="Requests by status over time"
          bars={bars}
          isWhole
          writeTick={writeCount}
          onOpen={(from) => onSpan(findBucketSpan(summary, from))}
        />
      </div>
      <div className="flex min-w-0 flex-col gap-3">
        <ChartTitle title="Latency" />
        {/* As high as the other chart's legend, so both charts have one baseline. */}
        <div className="flex flex-col gap-2">
          <div className="min-h-7">
            <LatencyLegend />
          </div>
          <Suspense fallback={<Skeleton className="h-60" />}>
            <LatencyChart label={describeLatency(summary)} points={points} />
          </Suspense>
        </div>
      </div>
    </div>
  );
}

const writeCount = (value: number): string => writeTick(value, null);

function arrangeLatency({ buckets }: RequestSummary, bars: readonly ChartBar[]): LatencyPoint[] {
  return buckets.map(({ from, latency_ms: latency }, index) => ({
    id: from,
    name: bars[index]?.name ?? "",
    mark: bars[index]?.mark ?? "",
    ...(latency ?? {}),
  }));
}

function ChartTitle({ title }: { title: string }) {
  return <h2 className="text-sm font-semibold">{title}</h2>;
}

function LatencyLegend() {
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-ink-soft">
      {percentiles.map(({ id, colour }) => (
        <li key={id} className="flex items-center gap-1.5">
          <span className="size-2 rounded-full" style={{ backgroundColor: getSeriesColour(colour) }} />
          {id}
        </li>
      ))}
    </ul>
  );
}

function describeLatency({ total: { latency_ms: latency } }: RequestSummary): string {
  if (latency === null) return "Latency over time: no successful requests";
  const texts = percentiles.map(({ id }) => `${id} ${formatLatency(latency[id])}`);
  return `Latency over time: ${texts.join(", ")} overall`;
}
