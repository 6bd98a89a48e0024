import { readBlocks } from "./block-store.ts";
import type { RequestReading } from "./read-requests.ts";
import { type BlockRecord, readBlock } from "./request-block.ts";
import { listFilteredColumns, matches, type RequestFilter } from "./request-filter.ts";

type Percentiles = { p50: number; p95: number; p99: number };

export type SummaryFigures = {
  count: number;
  /** From 1xx to 5xx. */
  byClass: readonly number[];
  hungUp: number;
  /** Of successful calls; `firstToken` only of streamed ones. */
  latency: Percentiles | null;
  firstToken: Percentiles | null;
};

export type RequestSummary = {
  from: Date;
  to: Date;
  /** There were more calls than are counted: all from `from` on are. */
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

/** Aggregates the calls of a period into buckets of equal length. */
export async function summarizeRequests(
  { database, clock }: RequestReading,
  filter: RequestFilter,
): Promise<RequestSummary> {
  const now = clock.now();
  const to = filter.to < now ? filter.to : now;
  const bucketSeconds = chooseWidth(filter.from, to);
  const widthMs = bucketSeconds * 1000;
  const total = createTally();
  const errors = new Map<string, number>();
  const buckets = new Map<number, Tally>();
  const count = (record: CountedRecord): void => {
    addTo(total, record);
    const startMs = Math.floor(record.createdAt.getTime() / widthMs) * widthMs;
    const bucket = buckets.get(startMs) ?? createTally();
    addTo(bucket, record);
    buckets.set(startMs, bucket);
    const { errorCode } = record;
    if (errorCode !== null) errors.set(errorCode, (errors.get(errorCode) ?? 0) + 1);
  };
  const completeFrom = await countNewest(database, filter, count, () => total.count >= countedMax);
  const from = completeFrom ?? filter.from;
  return {
    ...{ from, to, isPartial: completeFrom !== null, bucketSeconds, total: presentTally(total) },
    buckets: fillBuckets(buckets, { from, to, widthMs }),
    errors: [...errors]
      .map(([code, times]) => ({ code, count: times }))
      .toSorted((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1))
      .slice(0, errorsMax),
  };
}

const countedColumns = ["createdAt", "status", "ending", "errorCode", "durationMs", "firstTokenMs"] as const;
type CountedRecord = Pick<BlockRecord, (typeof countedColumns)[number]>;

/** Returns the moment from which on all calls are counted; `null` if they all are. */
async function countNewest(
  database: RequestReading["database"],
  filter: RequestFilter,
  count: (record: CountedRecord) => void,
  isEnough: () => boolean,
): Promise<Date | null> {
  return await readBlocks(database, filter, async (blocks) => {
    const columns = [...new Set([...countedColumns, ...listFilteredColumns(filter)])];
    // Calls whose contemporaries may be in blocks that follow.
    let waiting: CountedRecord[] = [];
    for await (const block of blocks) {
      for (const record of waiting) if (record.createdAt > block.created_at) count(record);
      if (isEnough()) return new Date(block.created_at.getTime() + 1);
      waiting = waiting.filter(({ createdAt }) => createdAt <= block.created_at);
      for (const record of readBlock(block.body, columns)) {
        if (!record.isAmendment && matches(filter, record)) waiting.push(record);
      }
    }
    for (const record of waiting) count(record);
    return null;
  });
}

function chooseWidth(from: Date, to: Date): number {
  const seconds = Math.max(0, to.getTime() - from.getTime()) / 1000;
  return bucketWidths.find((width) => seconds / width <= bucketsMax) ?? Math.ceil(seconds / bucketsMax);
}

type Tally = { count: number; byClass: number[]; hungUp: number; latencies: number[]; firstTokens: number[] };

function createTally(): Tally {
  return { count: 0, byClass: [0, 0, 0, 0, 0], hungUp: 0, latencies: [], firstTokens: [] };
}

function addTo(tally: Tally, { status, ending, durationMs, firstTokenMs }: CountedRecord): void {
  tally.count += 1;
  const place = Math.min(Math.max(Math.floor(status / 100), 1), 5) - 1;
  tally.byClass[place] = (tally.byClass[place] ?? 0) + 1;
  if (ending === "hung_up") tally.hungUp += 1;
  if (ending !== "answered") return;
  tally.latencies.push(durationMs);
  if (firstTokenMs !== null) tally.firstTokens.push(firstTokenMs);
}

function presentTally({ count, byClass, hungUp, latencies, firstTokens }: Tally): SummaryFigures {
  return { count, byClass, hungUp, latency: findPercentiles(latencies), firstToken: findPercentiles(firstTokens) };
}

function findPercentiles(values: readonly number[]): Percentiles | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const find = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return { p50: find(0.5), p95: find(0.95), p99: find(0.99) };
}

/** Adds buckets for times without calls. */
function fillBuckets(
  tallies: ReadonlyMap<number, Tally>,
  { from, to, widthMs }: { from: Date; to: Date; widthMs: number },
): RequestSummary["buckets"] {
  const buckets: (SummaryFigures & { from: Date })[] = [];
  for (let startMs = Math.floor(from.getTime() / widthMs) * widthMs; startMs < to.getTime(); startMs += widthMs) {
    buckets.push({ from: new Date(startMs), ...presentTally(tallies.get(startMs) ?? createTally()) });
  }
  return buckets;
}
