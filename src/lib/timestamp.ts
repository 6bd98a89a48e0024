const pattern = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * The moment that an ISO 8601 text with an offset names, or `null`. A time without an offset would mean something else
 * on every machine, and a day that the month does not have would silently become one of the next.
 */
export function parseTimestamp(text: string): Date | null {
  const [, year, month, day] = pattern.exec(text) ?? [];
  const moment = new Date(text);
  if (year === undefined || Number.isNaN(moment.getTime())) return null;
  const daysOfMonth = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(day) <= daysOfMonth ? moment : null;
}
