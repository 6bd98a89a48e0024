import { getDateFormat } from "./get-format.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** The day of a moment in a time zone, as `2026-11-15`. */
export function findDay(moment: Date, timeZone: string): string {
  const parts = getDateFormat({ timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  const { year, month, day } = Object.fromEntries(parts.formatToParts(moment).map(({ type, value }) => [type, value]));
  return `${year}-${month}-${day}`;
}

/** Computed in UTC, where no day is longer or shorter. */
export function addDays(day: string, count: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + count * dayMs).toISOString().slice(0, 10);
}

export function countDays(first: string, last: string): number {
  return (Date.parse(last) - Date.parse(first)) / dayMs + 1;
}

/** Both inclusive; empty if the last comes before the first. */
export function listDays(first: string, last: string): string[] {
  return Array.from({ length: Math.max(0, countDays(first, last)) }, (_, index) => addDays(first, index));
}

export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && addDays(text, 0) === text;
}

const longDays = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });
const shortDays = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", timeZone: "UTC" });

export function formatDay(day: string, length: "long" | "short" = "long"): string {
  return (length === "long" ? longDays : shortDays).format(new Date(day));
}
