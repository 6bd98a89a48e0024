import type { RequestSummary } from "../../api/fetch-requests.ts";
import type { ChartBar } from "../../design/chart-bar.ts";
import { formatCount } from "../../parts/format/format-money.ts";
import { getDateFormat, getNumberFormat } from "../../parts/format/get-format.ts";

type Bucket = RequestSummary["buckets"][number];

/** Status classes, bottom to top, with fixed colours. */
const statusSeries = [
  { id: "2xx", name: "2xx Succeeded", colour: 0 },
  { id: "4xx", name: "4xx Rejected", colour: 10 },
  { id: "5xx", name: "5xx Failed", colour: 4 },
] as const;

const barsWithMark = 12;
const daySeconds = 24 * 60 * 60;

/** One bar per bucket, including empty ones. */
export function arrangeSummary({ buckets, bucket_seconds: seconds, from, to }: RequestSummary, timeZone: string) {
  const isLong = Date.parse(to) - Date.parse(from) > 2 * daySeconds * 1000;
  return buckets.map((bucket, index): ChartBar => {
    const parts = statusSeries.flatMap(({ id, name, colour }) => {
      const size = bucket[id];
      return size === 0 ? [] : [{ id, name, size, text: formatCount(size), colour }];
    });
    const { name, mark } = nameBucket(bucket, { seconds, isLong, timeZone });
    // Narrow bars have no room for a label after the last one; without this the axis would have no labels at all.
    const hasMark = index < buckets.length - 1 || buckets.length < barsWithMark;
    return { id: bucket.from, name, mark: hasMark ? mark : "", text: countRequests(bucket), parts };
  });
}

function countRequests({ count }: Bucket): string {
  return count === 1 ? "1 request" : `${formatCount(count)} requests`;
}

function nameBucket(
  { from }: Bucket,
  { seconds, isLong, timeZone }: { seconds: number; isLong: boolean; timeZone: string },
): { name: string; mark: string } {
  const day = { month: "short", day: "numeric" } as const;
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  const second = seconds < 60 ? ({ second: "2-digit" } as const) : {};
  const write = (style: Intl.DateTimeFormatOptions): string =>
    getDateFormat({ ...style, timeZone }).format(new Date(from));
  return { name: write({ ...day, ...clock, ...second }), mark: write(isLong ? day : { ...clock, ...second }) };
}

/**
 * The part of the period with requests, if it is less than half: its own summary has narrower buckets. Otherwise `null`.
 */
export function findBusySpan({
  buckets,
  bucket_seconds: seconds,
}: RequestSummary): { from: string; to: string } | null {
  const first = buckets.findIndex(({ count }) => count > 0);
  const last = buckets.findLastIndex(({ count }) => count > 0);
  const [start, end] = [buckets[first], buckets[last]];
  if (start === undefined || end === undefined || (last - first + 1) * 2 >= buckets.length) return null;
  return { from: start.from, to: new Date(Date.parse(end.from) + seconds * 1000).toISOString() };
}

/** The bucket's period, as search parameters. */
export function findBucketSpan(
  { bucket_seconds: seconds }: RequestSummary,
  from: string,
): { from: string; to: string } {
  return { from, to: new Date(Date.parse(from) + seconds * 1000).toISOString() };
}

/** Error rate in percent with significant digits. */
export function writeErrorRate({ count, "4xx": refused, "5xx": failed }: RequestSummary["total"]): string {
  if (count === 0) return "–";
  return getNumberFormat({ style: "percent", maximumFractionDigits: 1 }).format((refused + failed) / count);
}
