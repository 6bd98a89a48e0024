import type { ChargeFilter } from "../../api/fetch-spending.ts";
import { addDays, countDays, findDay, isDay } from "../../parts/format/calendar-days.ts";

export const dayChoices = ["7", "30", "90"] as const;
const measures = ["charge", "calls", "tokens"] as const;
export type Measure = (typeof measures)[number];
export type SeriesKind = "model" | "key";

export type UsageSearch = Partial<
  Record<"days" | "from" | "to" | "by" | "show" | "model" | "key" | "bar" | "part", string>
>;

/** Valid values from the URL. */
export type UsageView = {
  days: (typeof dayChoices)[number] | "own";
  /** Both inclusive. */
  first: string;
  last: string;
  /** Why the range is invalid. */
  problem: string | null;
  by: SeriesKind;
  show: Measure;
  cut: "day" | "hour";
  filter: ChargeFilter;
};

const daysMax = 400;
/** Up to this many days, bars are hours. */
const daysByHourMax = 2;

export function readUsageView(search: UsageSearch, { now, timeZone }: { now: Date; timeZone: string }): UsageView {
  const today = findDay(now, timeZone);
  const isOwn = search.from !== undefined || search.to !== undefined;
  const days = dayChoices.find((each) => each === search.days) ?? "30";
  const first = isOwn ? (search.from ?? "") : addDays(today, 1 - Number(days));
  const last = isOwn ? (search.to ?? "") : today;
  const problem = findProblem(first, last);
  return {
    days: isOwn ? "own" : days,
    ...{ first, last, problem },
    by: search.by === "key" ? "key" : "model",
    show: measures.find((each) => each === search.show) ?? "charge",
    cut: problem === null && countDays(first, last) <= daysByHourMax ? "hour" : "day",
    filter: {
      from: first,
      // The API's end is exclusive: the start of the next day.
      ...(problem === null ? { to: addDays(last, 1) } : {}),
      ...(search.model === undefined ? {} : { model: search.model }),
      ...(search.key === undefined ? {} : { key_id: search.key }),
    },
  };
}

function findProblem(first: string, last: string): string | null {
  if (!isDay(first) || !isDay(last)) return "Choose the first and the last day.";
  if (last < first) return "Choose a last day after the first day.";
  return countDays(first, last) > daysMax ? `Choose at most ${daysMax} days.` : null;
}
