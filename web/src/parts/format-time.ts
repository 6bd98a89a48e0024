const moments = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });
const spans = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

const units: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

export function formatMoment(time: string): string {
  return moments.format(new Date(time));
}

/** Recent moments by how long ago they were, older ones by their date. */
export function formatSince(time: string, now: Date): string {
  const seconds = (now.getTime() - new Date(time).getTime()) / 1000;
  if (seconds < 60) return "just now";
  if (seconds >= 7 * 86_400) return formatMoment(time);
  const [unit, size] = units.find(([, length]) => seconds >= length) ?? ["minute", 60];
  return spans.format(-Math.floor(seconds / size), unit);
}
