const momentStyle = { dateStyle: "medium", timeStyle: "short" } as const;
const moments = new Intl.DateTimeFormat("en", momentStyle);
const spans = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

const units: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** In the zone of the browser, or in the one given: the account's, where days and bills are meant. */
export function formatMoment(time: string, timeZone?: string): string {
  const format = timeZone === undefined ? moments : new Intl.DateTimeFormat("en", { ...momentStyle, timeZone });
  return format.format(new Date(time));
}

/** The day alone, where its hour would only be in the way. */
export function formatDate(time: string, timeZone: string): string {
  return new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone }).format(new Date(time));
}

/** Recent moments by how long ago they were, older ones by their date. */
export function formatSince(time: string, now: Date): string {
  const seconds = (now.getTime() - new Date(time).getTime()) / 1000;
  if (seconds < 60) return "just now";
  if (seconds >= 7 * 86_400) return formatMoment(time);
  const [unit, size] = units.find(([, length]) => seconds >= length) ?? ["minute", 60];
  return spans.format(-Math.floor(seconds / size), unit);
}
