import type { RequestFilter } from "../../api/fetch-requests.ts";
import { addDays, isDay } from "../../parts/format/calendar-days.ts";

export const searchNames = ["period", "from", "to", "model", "key", "status", "error", "wire"] as const;

/** Search parameters of the page. */
export type RequestsSearch = { [name in (typeof searchNames)[number]]?: string };

const hourMs = 60 * 60 * 1000;

export const periods = [
  { id: "1h", name: "Last hour", lengthMs: hourMs },
  { id: "24h", name: "Last 24 hours", lengthMs: 24 * hourMs },
  { id: "7d", name: "Last 7 days", lengthMs: 7 * 24 * hourMs },
  { id: "30d", name: "Last 30 days", lengthMs: 30 * 24 * hourMs },
] as const;

const standardPeriod = periods[1];

export type RequestsView = {
  /** `span` for a bar of the chart, `own` for days that the user chose. */
  period: (typeof periods)[number]["id"] | "span" | "own";
  /** The first and last day of the user's own range, both inclusive. */
  days: { first: string; last: string } | null;
  filter: RequestFilter;
  /** Whether any filter but the period is set. */
  isFiltered: boolean;
  /** Whether new requests fall into the period. */
  isOpen: boolean;
};

/** Keep `nowMs` constant while the page is open: another value is another query. */
export function readRequestsView(search: RequestsSearch, nowMs: number): RequestsView {
  const { from, to, model, key, status, error, wire } = search;
  const chosen = periods.find(({ id }) => id === search.period) ?? standardPeriod;
  const days = from !== undefined && to !== undefined && isDay(from) && isDay(to) ? { first: from, last: to } : null;
  const hasSpan = isMoment(from) && isMoment(to);
  const minuteMs = Math.floor((nowMs - chosen.lengthMs) / 60_000) * 60_000;
  // The API's end is exclusive: the start of the next day.
  const span = days === null ? { from, to } : { from: days.first, to: addDays(days.last, 1) };
  const time = hasSpan ? span : { from: new Date(minuteMs).toISOString() };
  const words = { model, key_id: key, status, error_code: error, wire };
  const wanted = Object.fromEntries(Object.entries(words).filter(([, word]) => word !== undefined));
  return {
    period: days !== null ? "own" : hasSpan ? "span" : chosen.id,
    days,
    // Invalid values go to the server, which reports them.
    filter: { ...time, ...wanted } as RequestFilter,
    isFiltered: Object.keys(wanted).length > 0,
    isOpen: !hasSpan,
  };
}

/** The search parameters of a period; empty for the default. A custom range starts with today. */
export function writePeriod(id: string, today = ""): RequestsSearch {
  if (id === "own") return { period: "", from: today, to: today };
  return { period: id === standardPeriod.id ? "" : id, from: "", to: "" };
}

function isMoment(text: string | undefined): text is string {
  return text !== undefined && !Number.isNaN(Date.parse(text));
}
