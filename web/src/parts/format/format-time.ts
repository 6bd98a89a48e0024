import { getDateFormat } from "./get-format.ts";

const momentStyle = { dateStyle: "medium", timeStyle: "short" } as const;
const spans = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

const units: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** In the given time zone, else the browser's. Use the account's for days and bills. */
export function formatMoment(time: string, timeZone?: string): string {
  const style = timeZone === undefined ? momentStyle : { ...momentStyle, timeZone };
  return getDateFormat(style).format(new Date(time));
}

export function formatDate(time: string, timeZone: string): string {
  return getDateFormat({ dateStyle: "medium", timeZone }).format(new Date(time));
}

/** Recent moments are relative, older ones dates. */
export function formatSince(time: string, now: Date): string {
  const seconds = (now.getTime() - new Date(time).getTime()) / 1000;
  if (seconds < 60) return "just now";
  if (seconds >= 7 * 86_400) return formatMoment(time);
  const [unit, size] = units.find(([, length]) => seconds >= length) ?? ["minute", 60];
  return spans.format(-Math.floor(seconds / size), unit);
}
