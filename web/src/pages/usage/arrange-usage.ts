import type { Usage } from "../../api/fetch-spending.ts";
import type { ChartBar } from "../../design/chart-bar.ts";
import { assignColours, restColour, seriesMax } from "../../design/series-colours.ts";
import { findDay, formatDay, listDays } from "../../parts/format/calendar-days.ts";
import { formatCount, formatMoney, formatRoughMoney } from "../../parts/format/format-money.ts";
import { getDateFormat } from "../../parts/format/get-format.ts";
import { compareMoney, sumMoney } from "../../parts/format/sum-money.ts";
import type { Measure, SeriesKind } from "./usage-view.ts";

type UsageRow = Usage["data"][number];
type Sums = Usage["total"];

/** The measure exactly, and rounded for tables. */
export type MeasureText = { text: string; short: string };

/** A model or key with its sums. Ids contain no spaces. */
export type Series = MeasureText & { id: string; name: string; colour: number; sums: Sums };

export type UsageBar = Omit<ChartBar, "parts"> &
  MeasureText & { parts: readonly (ChartBar["parts"][number] & MeasureText)[] };

/** The series beyond the palette, merged. */
const restId = "the rest";
const unknownId = "not known";
const hourMs = 60 * 60 * 1000;

export type ArrangedUsage = {
  /** Days or hours, oldest first, including empty ones. */
  bars: UsageBar[];
  /** Largest first. */
  series: Series[];
  total: MeasureText;
  /** Display names, including those merged into the rest. */
  names: ReadonlyMap<string, string>;
  /** Periods of the nonempty bars. */
  periods: ReadonlyMap<string, { from: string; to: string }>;
};

type Arrangement = { by: SeriesKind; show: Measure; cut: "day" | "hour"; nameOf(id: string): string };

/** Whether the id is a single model or key that the API can filter by. */
export function isNamed(seriesId: string): boolean {
  return seriesId !== restId && seriesId !== unknownId;
}

export function arrangeUsage(usage: Usage, arrangement: Arrangement): ArrangedUsage {
  const { by, show, cut } = arrangement;
  const idOf = (row: UsageRow): string => (by === "model" ? row.model : row.key_id) ?? unknownId;
  const ranked = rankSeries(Map.groupBy(usage.data, idOf), arrangement, usage.currency);
  const places = new Map(ranked.map(({ id }, index) => [id, Math.min(index, seriesMax)]));
  const placeOf = (row: UsageRow): number => places.get(idOf(row)) ?? seriesMax;
  const series = joinRest(ranked, arrangement, usage.currency);
  const slotOf = (moment: string): string => (cut === "day" ? findDay(new Date(moment), usage.time_zone) : moment);
  const rowsBySlot = Map.groupBy(usage.data, (row) => slotOf(row.from ?? usage.from));
  const bars = listSlots(usage, cut, rowsBySlot).map((slot): UsageBar => {
    const rows = rowsBySlot.get(slot) ?? [];
    const parts = [...Map.groupBy(rows, placeOf)]
      .toSorted(([a], [b]) => a - b)
      .flatMap(([place, ofPlace]) => {
        const { id, name, colour } = series[place] ?? { id: restId, name: "", colour: restColour };
        const sums = addSums(ofPlace);
        return { id, name, size: measure(sums, show), colour, ...writeMeasure(sums, show, usage.currency) };
      });
    const texts = writeMeasure(addSums(rows), show, usage.currency);
    return { id: slot, ...nameSlot(slot, cut, usage.time_zone), ...texts, parts };
  });
  return {
    bars,
    series,
    total: writeMeasure(addSums(series.map(({ sums }) => sums)), show, usage.currency),
    names: new Map(ranked.map(({ id, name }) => [id, name])),
    periods: new Map([...rowsBySlot].map(([slot, [row]]) => [slot, readPeriod(row, usage)])),
  };
}

function rankSeries(
  groups: ReadonlyMap<string, UsageRow[]>,
  { by, show, nameOf }: Arrangement,
  currency: string,
): Series[] {
  const all = [...groups].map(([id, rows]) => ({ id, sums: addSums(rows) }));
  const compare = (a: Sums, b: Sums): number =>
    show === "charge" ? compareMoney(b.charge, a.charge) : measure(b, show) - measure(a, show);
  const ranked = all.toSorted((a, b) => compare(a.sums, b.sums) || (a.id < b.id ? -1 : 1));
  const colours = assignColours(ranked.slice(0, seriesMax).map(({ id }) => id));
  return ranked.map(({ id, sums }) => ({
    id,
    name: id === unknownId ? `Unknown ${by}` : nameOf(id),
    colour: colours.get(id) ?? restColour,
    sums,
    ...writeMeasure(sums, show, currency),
  }));
}

function joinRest(ranked: readonly Series[], { by, show }: Arrangement, currency: string): Series[] {
  const rest = ranked.slice(seriesMax);
  if (rest.length === 0) return [...ranked];
  const sums = addSums(rest.map((each) => each.sums));
  const name = `${rest.length} other ${by}s`;
  const joined = { id: restId, name, colour: restColour, sums, ...writeMeasure(sums, show, currency) };
  return [...ranked.slice(0, seriesMax), joined];
}

/** Exact: the bar shows this sum. */
export function addSums(rows: readonly Sums[]): Sums {
  const add = (count: (row: Sums) => number): number => rows.reduce((sum, row) => sum + count(row), 0);
  return {
    calls: add(({ calls }) => calls),
    input_tokens: add((row) => row.input_tokens),
    cached_input_tokens: add((row) => row.cached_input_tokens),
    output_tokens: add((row) => row.output_tokens),
    images: add(({ images }) => images),
    seconds: add(({ seconds }) => seconds),
    characters: add(({ characters }) => characters),
    charge: sumMoney(rows.map(({ charge }) => charge)),
    quota: {
      text: add(({ quota }) => quota.text),
      image: add(({ quota }) => quota.image),
      video: add(({ quota }) => quota.video),
    },
  };
}

/** Bar height; precision is not needed. */
function measure(sums: Sums, show: Measure): number {
  if (show === "charge") return Number(sums.charge);
  return show === "calls" ? sums.calls : sums.input_tokens + sums.output_tokens;
}

function writeMeasure(sums: Sums, show: Measure, currency: string): MeasureText {
  const { charge } = sums;
  if (show === "charge") return { text: formatMoney(charge, currency), short: formatRoughMoney(charge, currency) };
  const text = formatCount(measure(sums, show));
  return { text, short: text };
}

function listSlots(usage: Usage, cut: "day" | "hour", filled: ReadonlyMap<string, unknown>): string[] {
  const { from, to, time_zone: timeZone } = usage;
  const end = Date.parse(to);
  if (cut === "day") return listDays(findDay(new Date(from), timeZone), findDay(new Date(end - 1), timeZone));
  const hours = Array.from({ length: Math.ceil((end - Date.parse(from)) / hourMs) }, (_, index) =>
    new Date(Date.parse(from) + index * hourMs).toISOString(),
  );
  // In zones with offsets of less than an hour, hours start at other minutes.
  return [...new Set([...hours, ...filled.keys()])].toSorted();
}

function nameSlot(slot: string, cut: "day" | "hour", timeZone: string): { name: string; mark: string } {
  if (cut === "day") return { name: formatDay(slot), mark: formatDay(slot, "short") };
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone } as const;
  const write = (style: Intl.DateTimeFormatOptions): string => getDateFormat(style).format(new Date(slot));
  return { name: write({ ...clock, month: "short", day: "numeric" }), mark: write(clock) };
}

function readPeriod(row: UsageRow | undefined, usage: Usage): { from: string; to: string } {
  return { from: row?.from ?? usage.from, to: row?.to ?? usage.to };
}
