import { sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { type BlockRow, insertBlocks, listBlocksAt, readBlocks } from "./block-store.ts";
import { type ContentRecord, insertContents } from "./content/content-store.ts";
import { allColumns, type BlockRecord, formBlocks, readBlock } from "./request-block.ts";
import {
  everyCall,
  isOlder,
  listFilteredColumns,
  matches,
  type RequestFilter,
  type RequestPlace,
} from "./request-filter.ts";
import type { ReadRequest, RequestGap, ShownRequest } from "./request-record.ts";

type BatchOptions = { nextId: () => string; isSentAgain?: boolean; contents?: readonly ContentRecord[] };

/**
 * Inserts a batch with its contents. Only a retry after an unacknowledged commit looks for calls that exist: that would double
 * the cost of every batch.
 */
export async function insertRequests(
  database: Database,
  records: readonly BlockRecord[],
  { nextId, isSentAgain = false, contents = [] }: BatchOptions,
): Promise<void> {
  const fresh = isSentAgain ? await leaveOutWritten(database, records) : records;
  const blocks = Map.groupBy(fresh, ({ accountId }) => accountId)
    .entries()
    .flatMap(([accountId, own]) => formBlocks(accountId, own))
    .map((block) => ({ ...block, id: nextId() }))
    .toArray();
  if (contents.length === 0) return await insertBlocks(database, blocks);
  await inTransaction(database, async (tx) => {
    await insertBlocks(tx, blocks);
    await insertContents(tx, contents);
  });
}

/** An amendment may be written twice: readers take the last one. */
async function leaveOutWritten(database: Database, records: readonly BlockRecord[]): Promise<BlockRecord[]> {
  const written = new Set<string>();
  for (const [accountId, own] of Map.groupBy(records, (record) => record.accountId)) {
    const found = await listRequests(database, { ...everyCall, accountId, ids: own }, own.length);
    for (const { id } of found) written.add(id);
  }
  return records.filter(({ id, isAmendment }) => isAmendment || !written.has(id));
}

/** Newest first. */
export async function listRequests(database: Database, filter: RequestFilter, limit: number): Promise<ReadRequest[]> {
  return await readBlocks(database, filter, async (blocks) => {
    const columns = listFilteredColumns(filter);
    let found: BlockRecord[] = [];
    for await (const block of blocks) {
      // This block and those that follow contain only calls up to this time.
      const complete = found.findIndex(({ createdAt }) => createdAt <= block.created_at);
      if ((complete === -1 ? found.length : complete) >= limit) break;
      if (!readBlock(block.body, columns).some((record) => matches(filter, record))) continue;
      const own = readRecords(block).filter((record) => matches(filter, record));
      found = mergeRecords(found, own);
    }
    return found.slice(0, limit).map(toRead);
  });
}

/** Newest first, each call once: an amendment replaces its call. */
export function mergeRecords(one: readonly BlockRecord[], other: readonly BlockRecord[]): BlockRecord[] {
  const byId = new Map<string, BlockRecord>();
  for (const record of [...one, ...other]) {
    const known = byId.get(record.id);
    const latest = known === undefined || record.isAmendment ? record : known;
    const isAmendment = record.isAmendment === true && (known === undefined || known.isAmendment === true);
    byId.set(record.id, { ...latest, isAmendment });
  }
  return [...byId.values()].toSorted((a, b) => (isOlder(a, b) ? 1 : -1));
}

export function readRecords({ account_id: accountId, body }: Pick<BlockRow, "account_id" | "body">): BlockRecord[] {
  return readBlock(body, allColumns).map((record) => ({ ...record, accountId: accountId as AccountId }));
}

export function toShown({ isAmendment: _, ...record }: BlockRecord): ShownRequest {
  return {
    ...record,
    upstream: record.upstream ?? null,
    upstreamRequestId: record.upstreamRequestId ?? null,
    failedAttempts: record.failedAttempts ?? [],
    error: record.error ?? null,
  };
}

/** Leaves out the upstream, which customers must not see. */
function toRead(record: BlockRecord): ReadRequest {
  const { upstream: _, upstreamRequestId: __, failedAttempts: ___, ...rest } = toShown(record);
  return rest;
}

/** Counts up to a limit. */
export async function countRequests(database: Database, filter: RequestFilter, limit: number): Promise<number> {
  return await readBlocks(database, filter, async (blocks) => {
    const columns = listFilteredColumns(filter);
    let count = 0;
    for await (const { body } of blocks) {
      const own = readBlock(body, columns);
      count += own.filter((record) => !record.isAmendment && matches(filter, record)).length;
      if (count >= limit) return limit;
    }
    return count;
  });
}

export async function findRequest(
  database: Database,
  { accountId, ...place }: RequestPlace & { accountId: AccountId },
): Promise<ReadRequest | null> {
  const [found] = await listRequests(database, { ...everyCall, accountId, ids: [place] }, 1);
  return found ?? null;
}

/** The newest rejected call since a moment, of any key but these. */
export async function findNewestRefusal(
  database: Database,
  { accountId, since, exceptKeyIds }: { accountId: AccountId; since: Date; exceptKeyIds: ReadonlySet<string> },
): Promise<{ status: number; code: string } | null> {
  const filter = { ...everyCall, accountId, from: since, status: { least: 400, most: 599 } };
  const newest = await listRequests(database, filter, refusalsRead);
  const refused = newest.find(({ errorCode, keyId }) => errorCode !== null && !exceptKeyIds.has(keyId));
  return refused === undefined || refused.errorCode === null
    ? null
    : { status: refused.status, code: refused.errorCode };
}

/** Calls whose client disconnected have no error code, and are skipped. */
const refusalsRead = 100;

const idColumn = ["id"] as const;

/** A call of any account, for operators. */
export async function findAnyRequest(database: Database, place: RequestPlace): Promise<ShownRequest | null> {
  const blocks = await listBlocksAt(database, place);
  // A busy hour has many blocks, so look for the id before reading all columns.
  const holding = blocks.filter(({ body }) => readBlock(body, idColumn).some(({ id }) => id === place.id));
  const found = holding.flatMap((block) => readRecords(block).filter(({ id }) => id === place.id));
  const [record] = mergeRecords(found, []);
  return record === undefined ? null : toShown(record);
}

export async function insertGaps(database: Database, gaps: readonly RequestGap[], nextId: () => string): Promise<void> {
  await database
    .insertInto("request_gaps")
    .values(
      gaps.map(({ accountId, from, to, lost }) => ({
        ...{ account_id: accountId, id: nextId(), lost },
        ...{ from_at: from, to_at: to },
      })),
    )
    .execute();
}

/** The newest gaps of a period. */
export async function listGaps(
  database: Database,
  { accountId, from, to }: Pick<RequestFilter, "accountId" | "from" | "to">,
  limit: number,
): Promise<RequestGap[]> {
  const rows = await database
    .selectFrom("request_gaps")
    .select(["from_at", "to_at", "lost"])
    .where("account_id", "=", accountId)
    .where("to_at", ">=", from)
    .where("from_at", "<", to)
    .orderBy("to_at", "desc")
    .limit(limit)
    .execute();
  return rows.map((row) => ({ accountId, from: row.from_at, to: row.to_at, lost: row.lost }));
}

/** The charges of tasks, from the tables of tasks and ledger. */
export async function listTaskCharges(
  database: Database,
  { accountId, taskIds }: { accountId: AccountId; taskIds: readonly string[] },
): Promise<Map<string, { chargeId: string; paid: bigint; unit: string }>> {
  if (taskIds.length === 0) return new Map();
  const { rows } = await sql<{ task_id: string; id: string; paid: bigint; unit: string }>`
    select task.id as task_id, charge.id, charge.paid, charge.unit from tasks task
      join charges charge on charge.id = 'txn_' || substr(task.hold_id, 6) and charge.account_id = task.account_id
      where task.account_id = ${accountId} and task.id = any(${taskIds})`.execute(database);
  return new Map(rows.map(({ task_id: taskId, id, paid, unit }) => [taskId, { chargeId: id, paid, unit }]));
}
