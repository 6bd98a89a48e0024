import type { RequestFilter } from "../../api/ask-requests.ts";

/** What of the page is in the address. */
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
  /** `span` where the address has a time of its own, from a bar of the chart. */
  period: (typeof periods)[number]["id"] | "span";
  filter: RequestFilter;
  /** Whether something other than the time is chosen. */
  isFiltered: boolean;
  /** Whether calls that are made now are in it. */
  isOpen: boolean;
};

/** `nowMs` should stay the same while the page is open: another moment is another question. */
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
    // The address may have any words; the server says what is wrong with them.
    filter: { ...time, ...wanted } as RequestFilter,
    isFiltered: Object.keys(wanted).length > 0,
    isOpen: !hasSpan,
  };
}

/** The address of a period; that of the standard one is empty. */
export function writePeriod(id: string): RequestsSearch {
  return { period: id === standardPeriod.id ? "" : id, from: "", to: "" };
}

function isMoment(text: string | undefined): text is string {
  return text !== undefined && !Number.isNaN(Date.parse(text));
}
