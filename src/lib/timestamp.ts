const pattern = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * Parses ISO 8601 with an offset, or returns `null`. Times without an offset depend on the machine, and `Date` would move
 * February 30 to March.
 */
export function parseTimestamp(text: string): Date | null {
  const [, year, month, day] = pattern.exec(text) ?? [];
  const moment = new Date(text);
  if (year === undefined || Number.isNaN(moment.getTime())) return null;
  const daysOfMonth = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(day) <= daysOfMonth ? moment : null;
}
