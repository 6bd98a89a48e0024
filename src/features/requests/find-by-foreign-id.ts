import type { AccountId } from "../../lib/ids.ts";
import { readBlocksOfAll } from "./block-store.ts";
import { findKeptFrom, type RequestReading } from "./read-requests.ts";
import { readBlock } from "./request-block.ts";
import { everyCall, listFilteredColumns, matches } from "./request-filter.ts";
import type { ShownRequest } from "./request-record.ts";
import { mergeRecords, readRecords, toShown } from "./request-store.ts";

/** Ten million calls take a second; see decision 82. */
const searchMsMax = 4_000;
/** The clocks of nodes differ slightly. */
const clockMarginMs = 60_000;

/**
 * The newest calls of any account to which a client or an upstream gave this id. Reads the blocks whose hashes contain the
 * id's, back to the oldest call, or until the time is up or the search is aborted: then `from` is how far it came.
 */
export async function findByForeignId(
  { database, clock, keptDays }: RequestReading,
  foreignId: string,
  { limit, signal }: { limit: number; signal: AbortSignal },
): Promise<{ records: ShownRequest[]; from: Date | null }> {
  const period = { from: findKeptFrom(clock, keptDays), to: new Date(clock.now().getTime() + clockMarginMs) };
  const filter = { ...everyCall, ...period, foreignId };
  const endsAtMs = clock.monotonicMs() + searchMsMax;
  let from: Date | null = null;
  const records = await readBlocksOfAll(
    database,
    filter,
    async (blocks) => {
      let found: ReturnType<typeof readRecords> = [];
      for await (const block of blocks) {
        const mine = { ...filter, accountId: block.account_id as AccountId };
        if (!readBlock(block.body, listFilteredColumns(mine)).some((record) => matches(mine, record))) continue;
        const own = readRecords(block).filter((record) => matches(mine, record));
        found = mergeRecords(found, own);
        // A client may send one id with every call.
        if (found.length >= limit) break;
      }
      return found.slice(0, limit).map(toShown);
    },
    (reached) => {
      if ((clock.monotonicMs() < endsAtMs && !signal.aborted) || reached <= period.from) return "go-on";
      from = reached;
      return "stop";
    },
  );
  return { records, from };
}
