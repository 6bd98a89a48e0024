import { type KeyboardEvent, useRef, useState } from "react";
import { BarTip } from "./bar-tip.tsx";
import type { Bar } from "./chart-bar.ts";
import type { ChartScale } from "./chart-scale.ts";
import { joinClasses } from "./join-classes.ts";
import { getSeriesColour } from "./series-colours.ts";

type BarChartProps = {
  label: string;
  bars: readonly Bar[];
  scale: ChartScale;
  /** `digits`: how many behind the point tell the ticks apart. */
  writeTick(value: number, digits: number): string;
  /** The bar whose rows are shown. */
  openId?: string | undefined;
  /** `partId` when a part was pressed and not the bar as a whole. */
  onOpen(barId: string, partId: string | null): void;
};

const plotHeight = 208;
const marksHeight = 24;
const topMargin = 8;

/**
 * Bars of parts, side by side. It has one place in the order of Tab: arrow keys go from bar to bar, Enter opens one.
 * Places across are percentages, so that nothing has to be measured and nothing jumps.
 */
export function BarChart({ label, bars, scale, writeTick, openId, onOpen }: BarChartProps) {
  const [pointedAt, setPointedAt] = useState<number | null>(null);
  const chart = useRef<SVGSVGElement>(null);
  const openable = bars.flatMap((bar, index) => (bar.parts.length === 0 ? [] : [index]));
  const openIndex = bars.findIndex(({ id }) => id === openId);
  const [lastFocus, setLastFocus] = useState<number | null>(null);
  const isStop = (index: number | null): index is number => index !== null && openable.includes(index);
  const stop = [lastFocus, openIndex, openable.at(-1) ?? null].find(isStop) ?? null;
  const top = scale.ticks.at(-1) ?? 1;
  const toY = (value: number): number => topMargin + plotHeight * (1 - value / top);
  const pointed = pointedAt === null ? undefined : bars[pointedAt];

  const press = (event: KeyboardEvent<SVGSVGElement>) => {
    const at = stop === null ? -1 : openable.indexOf(stop);
    const places: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: openable.length - 1 };
    const place = places[event.key];
    const next = place === undefined ? undefined : openable[place];
    if (next !== undefined) {
      event.preventDefault();
      chart.current?.querySelector<SVGGElement>(`[data-bar="${next}"]`)?.focus();
    }
    if ((event.key === "Enter" || event.key === " ") && stop !== null) {
      event.preventDefault();
      onOpen(bars[stop]?.id ?? "", null);
    }
  };

  return (
    <div className="flex gap-3">
      <Axis scale={scale} writeTick={writeTick} toY={toY} />
      <div className="relative min-w-0 flex-1">
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot hold a drawing's bars. */}
        <svg
          ref={chart}
          role="group"
          aria-label={label}
          width="100%"
          height={topMargin + plotHeight + marksHeight}
          className="block overflow-visible"
          onKeyDown={press}
          onMouseLeave={() => setPointedAt(null)}
        >
          {scale.ticks.map((tick) => (
            <line
              key={tick}
              x1="0"
              x2="100%"
              y1={Math.round(toY(tick)) + 0.5}
              y2={Math.round(toY(tick)) + 0.5}
              className={tick === 0 ? "stroke-line-strong" : "stroke-line"}
            />
          ))}
          {bars.map((bar, index) => (
            <BarGroup
              key={bar.id}
              bar={bar}
              place={{ index, count: bars.length }}
              isStop={index === stop}
              isOpen={bar.id === openId}
              toY={toY}
              onPoint={() => setPointedAt(index)}
              onFocus={() => {
                setLastFocus(index);
                setPointedAt(index);
              }}
              onBlur={() => setPointedAt(null)}
              onOpen={(partId) => onOpen(bar.id, partId)}
            />
          ))}
          <Marks bars={bars} />
        </svg>
        {pointed !== undefined && pointedAt !== null && (
          <BarTip bar={pointed} place={(pointedAt + 0.5) / bars.length} />
        )}
      </div>
    </div>
  );
}

type AxisProps = Pick<BarChartProps, "scale" | "writeTick"> & { toY(value: number): number };

function Axis({ scale, writeTick, toY }: AxisProps) {
  const texts = scale.ticks.map((tick) => ({ tick, text: writeTick(tick, scale.digits) }));
  const longest = Math.max(...texts.map(({ text }) => text.length));
  return (
    <div aria-hidden="true" className="relative shrink-0" style={{ width: `${longest * 0.55 * 0.8125}rem` }}>
      {texts.map(({ tick, text }) => (
        <span
          key={tick}
          className="absolute right-0 -translate-y-1/2 text-xs whitespace-nowrap text-ink-soft tabular-nums"
          style={{ top: toY(tick) }}
        >
          {text}
        </span>
      ))}
    </div>
  );
}

type BarGroupProps = {
  bar: Bar;
  place: { index: number; count: number };
  isStop: boolean;
  isOpen: boolean;
  toY(value: number): number;
  onPoint(): void;
  onFocus(): void;
  onBlur(): void;
  onOpen(partId: string | null): void;
};

function BarGroup({ bar, place, isStop, isOpen, toY, onPoint, onFocus, onBlur, onOpen }: BarGroupProps) {
  const slot = 100 / place.count;
  const width = slot * chooseShare(place.count);
  const bottom = Math.round(toY(0));
  const column = { x: `${place.index * slot}%`, y: topMargin, width: `${slot}%`, height: plotHeight };
  if (bar.parts.length === 0) {
    // biome-ignore lint/a11y/noStaticElementInteractions: it only says that there is nothing, which the table says too.
    return <rect {...column} className="fill-transparent" onMouseEnter={onPoint} />;
  }
  let reached = 0;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a button of HTML cannot be part of a drawing.
    <g
      role="button"
      data-bar={place.index}
      tabIndex={isStop ? 0 : -1}
      aria-label={describeBar(bar)}
      aria-pressed={isOpen}
      className="group cursor-pointer"
      onMouseEnter={onPoint}
      onFocus={onFocus}
      onBlur={onBlur}
      onClick={() => onOpen(null)}
    >
      <rect
        {...column}
        className={joinClasses("group-hover:fill-sunken", isOpen ? "fill-accent-soft" : "fill-transparent")}
      />
      {bar.parts.map((part) => {
        const from = reached;
        reached += part.size;
        const upper = Math.round(toY(reached));
        const lower = Math.round(toY(from));
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: by keyboard the bar opens, and its list has the parts.
          <rect
            key={part.id}
            x={`${place.index * slot + (slot - width) / 2}%`}
            width={`${width}%`}
            y={Math.min(upper, bottom - 1)}
            // What is there is seen, however little it is.
            height={Math.max(lower - upper, from === 0 ? 1 : 0)}
            className={joinClasses(getSeriesColour(part.colour).fill, "group-hover:opacity-85")}
            onClick={(event) => {
              event.stopPropagation();
              onOpen(part.id);
            }}
          />
        );
      })}
    </g>
  );
}

/** Few bars are not made broad for that. */
function chooseShare(count: number): number {
  if (count <= 8) return 0.3;
  if (count <= 16) return 0.45;
  return count <= 45 ? 0.62 : 0.76;
}

function describeBar({ name, text, parts }: Bar): string {
  const ofMany = parts.length > 1 ? `: ${parts.map((part) => `${part.name} ${part.text}`).join(", ")}` : "";
  return `${name}, ${text}${ofMany}`;
}

const marksMax = 8;
const marksNarrowMax = 4;

/** As many as stand beside each other without touching; fewer in a narrow window. */
function Marks({ bars }: { bars: readonly Bar[] }) {
  const every = Math.ceil(bars.length / marksMax);
  const everyNarrow = every * Math.ceil(marksMax / marksNarrowMax);
  // The newest one has its mark.
  const isMarked = (index: number, step: number): boolean => (bars.length - 1 - index) % step === 0;
  const isLast = (index: number): boolean => bars.length > marksMax && index === bars.length - 1;
  return bars.map((bar, index) =>
    isMarked(index, every) ? (
      <text
        key={bar.id}
        // The last one would reach beyond the chart where bars are narrow.
        x={isLast(index) ? "100%" : `${((index + 0.5) / bars.length) * 100}%`}
        y={topMargin + plotHeight + 18}
        textAnchor={isLast(index) ? "end" : "middle"}
        className={joinClasses(
          "fill-ink-soft text-xs tabular-nums",
          !isMarked(index, everyNarrow) && bars.length > marksNarrowMax && "max-sm:hidden",
        )}
      >
        {bar.mark}
      </text>
    ) : null,
  );
}
