import type { Database } from "../../platform/database/database.ts";
import { readTrafficBlocks } from "./block-store.ts";
import { type BlockRecord, readBlock } from "./request-block.ts";

const trafficColumns = [
  "createdAt",
  "wire",
  "model",
  "status",
  "ending",
  "upstream",
  "failedAttempts",
  "isAmendment",
] as const;

export type TrafficCall = Pick<Required<BlockRecord>, Exclude<(typeof trafficColumns)[number], "isAmendment">>;

/** Every logged call of a period, of all accounts, in no particular order. */
export async function readTraffic(
  database: Database,
  period: { from: Date; to: Date },
  onCall: (call: TrafficCall) => void,
): Promise<void> {
  await readTrafficBlocks(database, period, (body) => {
    for (const record of readBlock(body, trafficColumns)) {
      const isInside = record.createdAt >= period.from && record.createdAt < period.to;
      if (isInside && !record.isAmendment) onCall(record);
    }
  });
}
