import type { RequestFilter } from "../../api/fetch-requests.ts";

/** Search parameters of the page. */
export type RequestsSearch = {
  [name in "period" | "from" | "to" | "model" | "key" | "status" | "error" | "wire"]?: string;
};

const hourMs = 60 * 60 * 1000;

export const periods = [
  { id: "1h", name: "Last hour", lengthMs: hourMs },
  { id: "24h", name: "Last 24 hours", lengthMs: 24 * hourMs },
  { id: "7d", name: "Last 7 days", lengthMs: 7 * 24 * hourMs },
  { id: "30d", name: "Last 30 days", lengthMs: 30 * 24 * hourMs },
] as const;

const standardPeriod = periods[1];

export type RequestsView = {
  /** `span` for a custom range, from a bar of the chart. */
  period: (typeof periods)[number]["id"] | "span";
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
  const hasSpan = isMoment(from) && isMoment(to);
  const minuteMs = Math.floor((nowMs - chosen.lengthMs) / 60_000) * 60_000;
  const time = hasSpan ? { from, to } : { from: new Date(minuteMs).toISOString() };
  const words = { model, key_id: key, status, error_code: error, wire };
  const wanted = Object.fromEntries(Object.entries(words).filter(([, word]) => word !== undefined));
  return {
    period: hasSpan ? "span" : chosen.id,
    // Invalid values go to the server, which reports them.
    filter: { ...time, ...wanted } as RequestFilter,
    isFiltered: Object.keys(wanted).length > 0,
    isOpen: !hasSpan,
  };
}

/** The search parameters of a period; empty for the default. */
export function writePeriod(id: string): RequestsSearch {
  return { period: id === standardPeriod.id ? "" : id, from: "", to: "" };
}

function isMoment(text: string | undefined): text is string {
  return text !== undefined && !Number.isNaN(Date.parse(text));
}
