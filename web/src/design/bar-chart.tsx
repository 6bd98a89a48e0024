import { type KeyboardEvent, memo, useMemo, useRef, useState } from "react";
import {
  Bar,
  CartesianGrid,
  BarChart as Chart,
  ReferenceArea,
  ResponsiveContainer,
  Tooltip,
  usePlotArea,
  XAxis,
  YAxis,
} from "recharts";
import { type ChartBar, type ChartSeries, listSeries } from "./chart-bar.ts";
import { listTicks } from "./list-ticks.ts";
import { getSeriesColour } from "./series-colours.ts";
import { useStable } from "./use-stable.ts";
import { useZoom } from "./use-zoom.ts";
import { ZoomButtons } from "./zoom-buttons.tsx";

export type BarChartProps = {
  label: string;
  bars: readonly ChartBar[];
  /** Whether values are integers. */
  isWhole: boolean;
  writeTick(value: number): string;
  /** The bar whose rows are open. */
  openId?: string | undefined;
  /** `partId` is set when a part was clicked rather than the whole bar. */
  onOpen(barId: string, partId: string | null): void;
};

const tickStyle = { fill: "var(--ink-soft)", fontSize: 12 };

/** Stacked bars with a legend and zoom. */
export function BarChart(props: BarChartProps) {
  const zoom = useZoom(props.bars);
  const open = useStable(props.onOpen);
  const choose = useStable(zoom.choose);
  return (
    <div className="flex flex-col gap-2">
      <div className="flex min-h-7 items-start justify-between gap-4">
        <BarLegend series={listSeries(props.bars)} />
        <ZoomButtons zoom={zoom} />
      </div>
      <Plot {...props} bars={zoom.shown} onOpen={open} onChoose={choose} />
    </div>
  );
}

type PlotProps = BarChartProps & { onChoose(oneId: string, otherId: string): void };

/**
 * Each bar is a button. All bars share one tab stop; arrow keys move between them. Renders only with new bars: the
 * library takes long.
 */
const Plot = memo(function Plot({ label, bars, isWhole, writeTick, openId, onOpen, onChoose }: PlotProps) {
  const [focused, setFocused] = useState<Focused | null>(null);
  const { dragged, ...drag } = useDrag(onChoose);
  const marks = new Map(bars.map(({ id, mark }) => [id, mark]));
  const ticks = useMemo(() => listTicks(bars), [bars]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset belongs in a form.
    <div role="group" aria-label={label} className="relative h-60 overflow-x-clip tabular-nums select-none">
      <ResponsiveContainer>
        <Chart
          data={bars}
          accessibilityLayer={false}
          maxBarSize={40}
          barCategoryGap="20%"
          // Leave room for half a label after the last bar: cut off, "17" would read "1".
          margin={{ top: 8, right: 20, bottom: 0, left: 0 }}
          {...drag}
        >
          <CartesianGrid vertical={false} stroke="var(--line)" />
          <XAxis
            dataKey="id"
            ticks={ticks}
            tickFormatter={(id) => marks.get(id) ?? ""}
            tick={tickStyle}
            tickLine={false}
            stroke="var(--line-strong)"
            interval="equidistantPreserveEnd"
            minTickGap={24}
          />
          <YAxis
            width="auto"
            allowDecimals={!isWhole}
            tickFormatter={writeTick}
            tick={tickStyle}
            tickLine={false}
            axisLine={false}
          />
          <Tooltip
            content={({ active, payload }) => active && payload[0] !== undefined && <BarTip bar={payload[0].payload} />}
            cursor={{ fill: "var(--sunken)" }}
            isAnimationActive={false}
          />
          <BarButtons bars={bars} openId={openId} onFocus={setFocused} onOpen={(id) => onOpen(id, null)} />
          {listSeries(bars).map(({ colour }) => (
            <Bar
              key={colour}
              stackId="bars"
              dataKey={(bar: ChartBar) => findPart(bar, colour)?.size ?? 0}
              fill={getSeriesColour(colour)}
              isAnimationActive={false}
              className="cursor-pointer"
              onClick={({ payload }: { payload?: ChartBar }) =>
                payload !== undefined && onOpen(payload.id, findPart(payload, colour)?.id ?? null)
              }
            />
          ))}
          {dragged !== null && (
            <ReferenceArea x1={dragged.from} x2={dragged.to} fill="var(--accent)" fillOpacity={0.15} />
          )}
        </Chart>
      </ResponsiveContainer>
      {focused !== null && (
        <div className="pointer-events-none absolute top-2 z-10 mx-4" style={focused.side}>
          <BarTip bar={focused.bar} />
        </div>
      )}
    </div>
  );
});

type ChartPoint = { activeLabel?: string | number | undefined };

/**
 * Selects a range of bars by dragging. Nothing re-renders before the pointer leaves the first bar: a re-rendered part
 * would not receive the click.
 */
function useDrag(onChoose: PlotProps["onChoose"]) {
  const pressed = useRef<string | null>(null);
  const [dragged, setDragged] = useState<{ from: string; to: string } | null>(null);
  const read = ({ activeLabel }: ChartPoint): string | null => (activeLabel === undefined ? null : String(activeLabel));
  const end = () => {
    pressed.current = null;
    setDragged(null);
  };
  return {
    dragged,
    onMouseDown(point: ChartPoint) {
      pressed.current = read(point);
    },
    onMouseMove(point: ChartPoint) {
      const [from, to] = [pressed.current, read(point)];
      if (from !== null && to !== null && to !== (dragged?.to ?? from)) setDragged(from === to ? null : { from, to });
    },
    onMouseUp() {
      if (dragged !== null) onChoose(dragged.from, dragged.to);
      end();
    },
    onMouseLeave: end,
  };
}

function findPart({ parts }: ChartBar, colour: number): ChartBar["parts"][number] | undefined {
  return parts.find((part) => part.colour === colour);
}

/** The focused bar, and which side of it has room for the tooltip. */
type Focused = { bar: ChartBar; side: { left: number } | { right: string } };

type BarButtonsProps = {
  bars: readonly ChartBar[];
  openId: string | undefined;
  onFocus(focused: Focused | null): void;
  onOpen(barId: string): void;
};

/** A focusable column behind each bar: for keyboards, screen readers and clicks beside the bar. */
function BarButtons({ bars, openId, onFocus, onOpen }: BarButtonsProps) {
  const area = usePlotArea();
  const group = useRef<SVGGElement>(null);
  const [last, setLast] = useState<string | null>(null);
  const filled = bars.filter(({ parts }) => parts.length > 0);
  const stop = filled.find(({ id }) => id === last) ?? filled.find(({ id }) => id === openId) ?? filled.at(-1);
  if (area === undefined || stop === undefined) return null;
  const width = area.width / bars.length;
  const findStart = (bar: ChartBar): number => area.x + bars.indexOf(bar) * width;
  const findSide = (bar: ChartBar): Focused["side"] => {
    const centre = findStart(bar) + width / 2;
    return centre < area.x + area.width / 2 ? { left: centre } : { right: `calc(100% - ${centre}px)` };
  };

  const press = (event: KeyboardEvent) => {
    const at = filled.indexOf(stop);
    const places: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: filled.length - 1 };
    const next = places[event.key];
    if (next !== undefined) {
      event.preventDefault();
      group.current?.querySelectorAll<SVGGElement>("[role=button]")[next]?.focus();
    }
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      onOpen(stop.id);
    }
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles the keys of the buttons inside.
    <g ref={group} onKeyDown={press}>
      {filled.map((bar) => (
        // biome-ignore lint/a11y/useSemanticElements: an HTML button cannot be part of an SVG.
        <g
          key={bar.id}
          role="button"
          tabIndex={bar === stop ? 0 : -1}
          aria-label={describeBar(bar)}
          aria-pressed={bar.id === openId}
          className="cursor-pointer"
          onFocus={(event) => {
            setLast(bar.id);
            // The pointer already opened the tooltip.
            if (event.currentTarget.matches(":focus-visible")) onFocus({ bar, side: findSide(bar) });
          }}
          onBlur={() => onFocus(null)}
          onClick={() => onOpen(bar.id)}
        >
          <rect
            x={findStart(bar)}
            y={area.y}
            width={width}
            height={area.height}
            className={bar.id === openId ? "fill-accent-soft" : "fill-transparent"}
          />
        </g>
      ))}
    </g>
  );
}

function describeBar({ name, text, parts }: ChartBar): string {
  const ofMany = parts.length > 1 ? `: ${parts.map((part) => `${part.name} ${part.text}`).join(", ")}` : "";
  return `${name}, ${text}${ofMany}`;
}

/** Hidden from screen readers: each bar's label names its series. */
function BarLegend({ series }: { series: readonly ChartSeries[] }) {
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

const partsMax = 7;

/** Tooltip with exact values of the hovered or focused bar. Screen readers get them from the bar's label. */
function BarTip({ bar }: { bar: ChartBar }) {
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
