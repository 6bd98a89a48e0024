const momentStyle = { dateStyle: "medium", timeStyle: "short" } as const;
const moments = new Intl.DateTimeFormat("en", momentStyle);
const spans = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

const units: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** In the given time zone, else the browser's. Use the account's for days and bills. */
export function formatMoment(time: string, timeZone?: string): string {
  const format = timeZone === undefined ? moments : new Intl.DateTimeFormat("en", { ...momentStyle, timeZone });
  return format.format(new Date(time));
}

export function formatDate(time: string, timeZone: string): string {
  return new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone }).format(new Date(time));
}

/** Recent moments are relative, older ones dates. */
export function formatSince(time: string, now: Date): string {
  const seconds = (now.getTime() - new Date(time).getTime()) / 1000;
  if (seconds < 60) return "just now";
  if (seconds >= 7 * 86_400) return formatMoment(time);
  const [unit, size] = units.find(([, length]) => seconds >= length) ?? ["minute", 60];
  return spans.format(-Math.floor(seconds / size), unit);
}
