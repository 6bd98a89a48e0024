import type { Clock } from "../../lib/clock.ts";
import type { AccountId, IdSource } from "../../lib/ids.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { insertBlocks, listScattered, takeBlocks } from "./block-store.ts";
import { takeOldRows } from "./old-row-store.ts";
import { blockCallsMax, formBlocks } from "./request-block.ts";
import { insertRequests, mergeRecords, readRecords } from "./request-store.ts";

type Packing = { database: Database; clock: Clock; ids: IdSource; signal: AbortSignal };

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Long enough that most calls of an hour are written. */
const restMs = 5 * minuteMs;
/** After a downtime of several days, older blocks stay as they are. */
const reachMs = 48 * hourMs;
/** Fewer blocks, or larger ones, are not worth the work. */
const blocksMin = 8;
const smallCallsMax = blockCallsMax / 4;
/** Bounds what is in memory at once. */
const blocksAtOnce = 64;
const accountsAtOnce = 1000;

/**
 * Merges the small blocks of each account and hour. An account with a call per second otherwise has a block per call, which takes
 * 20 times the disk and makes long periods slow to read.
 */
export async function packRequestLog(packing: Packing): Promise<void> {
  await adoptRows(packing);
  const { database, clock, signal } = packing;
  // Each hour once: to merge a block again and again with a few new calls would cost more than it saves.
  const to = new Date(Math.floor((clock.now().getTime() - restMs) / hourMs) * hourMs);
  const from = new Date(to.getTime() - reachMs);
  const scattered = await listScattered(database, {
    from,
    to,
    callsMax: smallCallsMax,
    blocksMin,
    limit: accountsAtOnce,
  });
  for (const { accountId, hour } of scattered) {
    const end = new Date(hour.getTime() + hourMs);
    while (!signal.aborted && (await packBlocks(packing, { accountId, from: hour, to: end }))) {
      // Until few blocks are left.
    }
  }
}

/** Returns whether more may be left. */
async function packBlocks(
  { database, ids }: Packing,
  period: { accountId: AccountId; from: Date; to: Date },
): Promise<boolean> {
  return await inTransaction(database, async (tx) => {
    const taken = await takeBlocks(tx, { ...period, callsMax: smallCallsMax, limit: blocksAtOnce });
    const records = mergeRecords(taken.flatMap(readRecords), []);
    const blocks = formBlocks(period.accountId, records);
    await insertBlocks(
      tx,
      blocks.map((block) => ({ ...block, id: ids.next("blk") })),
    );
    return taken.length === blocksAtOnce && blocks.length < taken.length / 2;
  });
}

const rowsAtOnce = 1000;

/** Moves calls that gateways of version 0.2 wrote, one row each, into blocks. */
async function adoptRows({ database, ids, signal }: Packing): Promise<void> {
  let isDone = false;
  while (!isDone && !signal.aborted) {
    isDone = await inTransaction(database, async (tx) => {
      const records = await takeOldRows(tx, rowsAtOnce);
      await insertRequests(tx, records, { nextId: () => ids.next("blk") });
      return records.length < rowsAtOnce;
    });
  }
}
