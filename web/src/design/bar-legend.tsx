import type { ChartSeries } from "./chart-bar.ts";
import { getSeriesColour } from "./series-colours.ts";

/** Hidden from screen readers: each bar's label names its series. */
export function BarLegend({ series }: { series: readonly ChartSeries[] }) {
  if (series.length < 2) return null;
  return (
    <ul aria-hidden="true" className="flex min-w-0 flex-wrap gap-x-4 gap-y-1 text-xs text-ink-soft">
      {series.map(({ id, name, colour }) => (
        <li key={id} className="flex min-w-0 items-center gap-1.5">
          <span className="size-2 shrink-0 rounded-full" style={{ backgroundColor: getSeriesColour(colour) }} />
          <span className="max-w-48 truncate">{name}</span>
        </li>
      ))}
    </ul>
  );
}
