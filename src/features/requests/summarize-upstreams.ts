import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database } from "../../platform/database/database.ts";
import { listNewestBlocks } from "./block-store.ts";
import { readBlock } from "./request-block.ts";

/** What the request log has of one model at one upstream. */
type UpstreamFigures = {
  providerId: string;
  model: string;
  calls: number;
  /** Calls that the upstream answered last and that failed, and attempts after which another upstream answered. */
  failed: number;
  latencyMs: number | null;
  firstTokenMs: number | null;
};

/** What failed attempts say of one key. */
type KeyFailures = {
  providerId: string;
  upstreamModel: string;
  keyNumber: number;
  failed: number;
  last: string;
};

export type UpstreamTraffic = {
  /** The log may have more than is read: all calls from here on are counted. */
  from: Date;
  figures: UpstreamFigures[];
  keys: KeyFailures[];
};

/** A block takes up to a millisecond to read. */
const blocksMax = 150;
const columns = [
  "createdAt",
  "model",
  "upstream",
  "ending",
  "durationMs",
  "firstTokenMs",
  "failedAttempts",
  "isAmendment",
] as const;

/** Counts the calls of all accounts since a moment by upstream, newest first up to a limit. */
export async function summarizeUpstreams(database: Database, since: Date): Promise<UpstreamTraffic> {
  const blocks = await listNewestBlocks(database, since, blocksMax);
  const tallies = new Map<string, Tally>();
  const keys = new Map<string, KeyFailures>();
  for (const { body } of blocks) {
    for (const record of readBlock(body, columns)) {
      if (record.isAmendment || record.createdAt < since) continue;
      const model = record.model ?? "";
      for (const { upstream, upstreamModel, keyNumber, kind } of record.failedAttempts) {
        const name = JSON.stringify([upstream, upstreamModel, keyNumber]);
        // Newest first, so the first one is the last failure.
        const known = keys.get(name) ?? { providerId: upstream, upstreamModel, keyNumber, failed: 0, last: kind };
        known.failed += 1;
        keys.set(name, known);
        const tally = getTally(tallies, upstream, model);
        tally.calls += 1;
        tally.failed += 1;
      }
      if (record.upstream === null || record.ending === "refused") continue;
      const isCounted = record.failedAttempts.at(-1)?.upstream === record.upstream && record.ending === "failed";
      if (isCounted) continue;
      const tally = getTally(tallies, record.upstream, model);
      tally.calls += 1;
      if (record.ending === "failed" || record.ending === "broken_off") tally.failed += 1;
      else if (record.ending === "answered") tally.durations.push(record.durationMs);
      if (record.firstTokenMs !== null) tally.firstTokens.push(record.firstTokenMs);
    }
    await nextTurn();
  }
  const oldest = blocks.length < blocksMax ? undefined : blocks.at(-1)?.created_at;
  return {
    from: oldest !== undefined && oldest > since ? oldest : since,
    figures: [...tallies.values()].map(({ durations, firstTokens, ...tally }) => ({
      ...{ ...tally, latencyMs: findMedian(durations), firstTokenMs: findMedian(firstTokens) },
    })),
    keys: [...keys.values()],
  };
}

type Tally = Pick<UpstreamFigures, "providerId" | "model" | "calls" | "failed"> & {
  durations: number[];
  firstTokens: number[];
};

function getTally(all: Map<string, Tally>, providerId: string, model: string): Tally {
  const name = JSON.stringify([providerId, model]);
  const known = all.get(name) ?? { providerId, model, calls: 0, failed: 0, durations: [], firstTokens: [] };
  all.set(name, known);
  return known;
}

function findMedian(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}
