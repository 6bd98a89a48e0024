import type { RequestReading } from "./read-requests.ts";
import type { RequestFilter } from "./request-store.ts";
import { type BucketRow, readSummaryRows, type SummaryFigures } from "./request-summary-store.ts";

export type RequestSummary = {
  from: Date;
  to: Date;
  /** There were more calls than are counted: `from` is the time of the oldest counted one. */
  isPartial: boolean;
  bucketSeconds: number;
  buckets: readonly (SummaryFigures & { from: Date })[];
  total: SummaryFigures;
  errors: readonly { code: string; count: number }[];
};

const bucketsMax = 120;
const bucketWidths = [10, 60, 300, 900, 3600, 6 * 3600, 24 * 3600, 7 * 24 * 3600, 30 * 24 * 3600] as const;
const errorsMax = 20;
/** About half a second's worth of reading. */
const countedMax = 200_000;

const noFigures: SummaryFigures = { count: 0, byClass: [0, 0, 0, 0, 0], hungUp: 0, latency: null, firstToken: null };

/** Aggregates the calls of a period into buckets of equal length. */
export async function summarizeRequests(
  { database, clock }: RequestReading,
  filter: RequestFilter,
): Promise<RequestSummary> {
  const now = clock.now();
  const to = filter.to < now ? filter.to : now;
  const bucketSeconds = chooseWidth(filter.from, to);
  const rows = await readSummaryRows(database, { ...filter, bucketSeconds, countedMax });
  const total = rows.total ?? noFigures;
  const isPartial = total.count > countedMax;
  const from = isPartial && rows.oldestAt !== null ? rows.oldestAt : filter.from;
  return {
    ...{ from, to, isPartial, bucketSeconds, total },
    buckets: fillBuckets(rows.buckets, { from, to, bucketSeconds }),
    errors: rows.errors.slice(0, errorsMax),
  };
}

function chooseWidth(from: Date, to: Date): number {
  const seconds = Math.max(0, to.getTime() - from.getTime()) / 1000;
  return bucketWidths.find((width) => seconds / width <= bucketsMax) ?? Math.ceil(seconds / bucketsMax);
}

/** Adds buckets for times without calls. */
function fillBuckets(
  known: readonly BucketRow[],
  { from, to, bucketSeconds }: { from: Date; to: Date; bucketSeconds: number },
): RequestSummary["buckets"] {
  const widthMs = bucketSeconds * 1000;
  const figuresByStart = new Map(known.map(({ startsAt, figures }) => [startsAt.getTime(), figures]));
  const buckets: (SummaryFigures & { from: Date })[] = [];
  for (let startMs = Math.floor(from.getTime() / widthMs) * widthMs; startMs < to.getTime(); startMs += widthMs) {
    buckets.push({ from: new Date(startMs), ...(figuresByStart.get(startMs) ?? noFigures) });
  }
  return buckets;
}
