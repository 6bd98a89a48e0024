import type { ChartBar } from "./chart-bar.ts";
import { getSeriesColour } from "./series-colours.ts";

const partsMax = 7;

/** Tooltip with exact values of the hovered or focused bar. Screen readers get them from the bar's label. */
export function BarTip({ bar }: { bar: ChartBar }) {
  return (
    <div
      aria-hidden="true"
      className="max-w-72 min-w-40 rounded-md border border-line bg-surface px-3 py-2 text-xs shadow-float"
    >
      <p className="flex justify-between gap-6">
        <span className="font-medium whitespace-nowrap">{bar.name}</span>
        <span className="font-medium tabular-nums">{bar.text}</span>
      </p>
      {bar.parts.length > 0 && (
        <ul className="mt-1.5 flex flex-col gap-1 border-t border-line pt-1.5">
          {bar.parts
            .toReversed()
            .slice(0, partsMax)
            .map((part) => (
              <li key={part.id} className="flex items-baseline gap-2 text-ink-soft">
                <span
                  className="size-2 shrink-0 rounded-full"
                  style={{ backgroundColor: getSeriesColour(part.colour) }}
                />
                <span className="min-w-0 flex-1 truncate">{part.name}</span>
                <span className="pl-4 tabular-nums">{part.text}</span>
              </li>
            ))}
        </ul>
      )}
    </div>
  );
}
