import { memo } from "react";
import { CartesianGrid, Line, LineChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import { listTicks } from "../../design/list-ticks.ts";
import { getSeriesColour } from "../../design/series-colours.ts";
import { percentiles } from "./percentiles.ts";
import { formatLatency } from "./request-labels.ts";

export type LatencyPoint = {
  id: string;
  name: string;
  mark: string;
  /** Absent if no request succeeded. */
  p50?: number;
  p95?: number;
  p99?: number;
};

type LatencyChartProps = { label: string; points: readonly LatencyPoint[] };

const tickStyle = { fill: "var(--ink-soft)", fontSize: 12 };

/** Latency percentiles over time. Screen readers get the totals shown beside it. */
export const LatencyChart = memo(function LatencyChart({ label, points }: LatencyChartProps) {
  const marks = new Map(points.map(({ id, mark }) => [id, mark]));
  return (
    <div role="img" aria-label={label} className="h-60 overflow-x-clip tabular-nums">
      <ResponsiveContainer>
        <LineChart data={points} accessibilityLayer={false} margin={{ top: 8, right: 28, bottom: 0, left: 0 }}>
          <CartesianGrid vertical={false} stroke="var(--line)" />
          <XAxis
            dataKey="id"
            ticks={listTicks(points)}
            tickFormatter={(id) => marks.get(id) ?? ""}
            tick={tickStyle}
            tickLine={false}
            stroke="var(--line-strong)"
            interval="equidistantPreserveEnd"
            minTickGap={24}
          />
          <YAxis width="auto" tickFormatter={formatLatency} tick={tickStyle} tickLine={false} axisLine={false} />
          <Tooltip
            content={({ active, payload }) =>
              active && payload[0] !== undefined && <LatencyTip point={payload[0].payload} />
            }
            cursor={{ stroke: "var(--line-strong)" }}
            isAnimationActive={false}
          />
          {percentiles.map(({ id, colour }) => (
            <Line
              key={id}
              dataKey={id}
              stroke={getSeriesColour(colour)}
              strokeWidth={1.75}
              // Draw a dot for a bucket between empty ones, which has no line.
              dot={{ r: 2, fill: getSeriesColour(colour), strokeWidth: 0 }}
              isAnimationActive={false}
            />
          ))}
        </LineChart>
      </ResponsiveContainer>
    </div>
  );
});

function LatencyTip({ point }: { point: LatencyPoint }) {
  return (
    <div
      aria-hidden="true"
      className="min-w-36 rounded-md border border-line bg-surface px-3 py-2 text-xs shadow-float"
    >
      <p className="font-medium whitespace-nowrap">{point.name}</p>
      <ul className="mt-1.5 flex flex-col gap-1 border-t border-line pt-1.5 text-ink-soft">
        {percentiles.map(({ id, colour }) => (
          <li key={id} className="flex items-baseline gap-2">
            <span className="size-2 shrink-0 rounded-full" style={{ backgroundColor: getSeriesColour(colour) }} />
            <span className="flex-1">{id}</span>
            <span className="pl-4 tabular-nums">{formatLatency(point[id] ?? 0)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
