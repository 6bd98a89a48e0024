import { type AccountId, presentLeastId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { readBlocks, readBlocksOfAll } from "./block-store.ts";
import { addTaskCharges } from "./read-requests.ts";
import { readBlock } from "./request-block.ts";
import { everyCall, listFilteredColumns, matches, type RequestFilter, type RequestPlace } from "./request-filter.ts";
import type { ShownRequest } from "./request-record.ts";
import { mergeRecords, readRecords, toShown } from "./request-store.ts";

/** A filter of the requests of all accounts; `null` matches everything. */
export type AnyRequestFilter = Pick<RequestFilter, "model" | "keyId" | "wire" | "status" | "errorCode"> & {
  accountId: AccountId | null;
  /** The upstream that responded, or that failed an attempt. */
  upstream: string | null;
  /** Whether only requests with a failed attempt are wanted. */
  hasFailedAttempt: boolean;
  from: Date;
  to: Date;
};

export type AnyRequestPage = {
  records: ShownRequest[];
  /** Where to go on; also if a page is short or empty, because enough was read. `null` at the end. */
  next: RequestPlace | null;
};

/** Bounds the work of a page: most filters skip blocks unread, but not one by upstream. */
const blocksMax = 400;

/** A page of the request log of all accounts or of one, newest first, with what only operators see. */
export async function listAnyRequests(
  database: Database,
  { accountId, upstream, hasFailedAttempt, ...asked }: AnyRequestFilter,
  { after, limit }: { after: RequestPlace | null; limit: number },
): Promise<AnyRequestPage> {
  const filter = { ...everyCall, ...asked, after };
  const isWanted = (record: ShownRequest): boolean => {
    const { failedAttempts } = record;
    if (hasFailedAttempt && failedAttempts.length === 0) return false;
    if (upstream === null || record.upstream === upstream) return true;
    return failedAttempts.some((attempt) => attempt.upstream === upstream);
  };
  const read = async (blocks: Parameters<Parameters<typeof readBlocks>[2]>[0]): Promise<AnyRequestPage> => {
    const columns = listFilteredColumns({ ...filter, accountId: accountId ?? noAccount });
    let found: ReturnType<typeof readRecords> = [];
    let count = 0;
    /** Every block from here on has been read, so calls up to here are complete. */
    let reached: Date | null = null;
    for await (const block of blocks) {
      const { created_at: blockAt } = block;
      const complete = found.filter(({ createdAt }) => createdAt > blockAt).length;
      if (complete >= limit || count === blocksMax) {
        reached = blockAt;
        break;
      }
      count += 1;
      const mine = { ...filter, accountId: block.account_id as AccountId };
      if (!readBlock(block.body, columns).some((record) => matches(mine, record))) continue;
      const own = readRecords(block).filter((record) => matches(mine, record) && isWanted(toShown(record)));
      found = mergeRecords(found, own);
    }
    const whole = reached === null ? found : found.filter(({ createdAt }) => createdAt > (reached ?? createdAt));
    const records = whole.slice(0, limit).map(toShown);
    const last = records.at(-1);
    if (whole.length > limit && last !== undefined) return { records, next: last };
    return { records, next: reached === null ? null : findPlaceAfter(reached) };
  };
  const page =
    accountId === null
      ? await readBlocksOfAll(database, filter, read)
      : await readBlocks(database, { ...filter, accountId }, read);
  return { ...page, records: await completeCharges(database, page.records) };
}

/** Only for `listFilteredColumns`, which does not read it. */
const noAccount: AccountId = "acct_";

/** The place before every call of this moment: a page that stopped there has none of them. */
function findPlaceAfter(moment: Date): RequestPlace {
  const createdAt = new Date(moment.getTime() + 1);
  return { id: presentLeastId("req", createdAt).padEnd(idCharacters, "0"), createdAt };
}

const idCharacters = "req_".length + 26;

async function completeCharges(database: Database, records: readonly ShownRequest[]): Promise<ShownRequest[]> {
  const completed = new Map<string, Partial<ShownRequest>>();
  for (const [accountId, own] of Map.groupBy(records, (record) => record.accountId)) {
    for (const record of await addTaskCharges(database, accountId, own)) completed.set(record.id, record);
  }
  return records.map((record) => ({ ...record, ...completed.get(record.id) }));
}
