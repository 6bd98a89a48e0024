import { setImmediate as nextTurn } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { createRowType, presentRows } from "../../platform/database/row-arrays.ts";
import type { Tables } from "../../platform/database/tables.ts";
import { blockSpanMs, hashId, type RequestBlock } from "./request-block.ts";
import type { RequestFilter, RequestPlace } from "./request-filter.ts";

/** A block with the id of its row. */
export type StoredBlock = RequestBlock & { id: string };

/** The table's columns, in order. */
const blockRow = createRowType<StoredBlock>("request_blocks", [
  ["account_id", "text", ({ accountId }) => accountId],
  ["created_at", "timestamptz", ({ lastAt }) => lastAt],
  ["id", "text", ({ id }) => id],
  ["first_at", "timestamptz", ({ firstAt }) => firstAt],
  ["calls", "integer", ({ calls }) => calls],
  ["key_ids", "text[]", ({ contains }) => contains.keyIds],
  ["wires", "text[]", ({ contains }) => contains.wires],
  ["models", "text[]", ({ contains }) => contains.models],
  ["statuses", "integer[]", ({ contains }) => contains.statuses],
  ["error_codes", "text[]", ({ contains }) => contains.errorCodes],
  ["client_id_hashes", "integer[]", ({ contains }) => contains.idHashes],
  ["body", "bytea", ({ body }) => body],
]);

export async function insertBlocks(database: Database, blocks: readonly StoredBlock[]): Promise<void> {
  if (blocks.length === 0) return;
  await sql`
    insert into request_blocks select * from unnest(${presentRows(blockRow, blocks)}::request_blocks[])`.execute(
    database,
  );
}

/** What a reader needs of a block. */
export type BlockRow = Pick<Tables["request_blocks"], "account_id" | "created_at" | "id" | "body">;

const firstPageBlocks = 2;
const pageBlocksMax = 64;

/**
 * Runs a reader on one snapshot: blocks that are packed meanwhile would otherwise be missed. The reader gets a walk through the
 * blocks that may contain calls of a filter, from the one with the newest call on.
 */
export async function readBlocks<T>(
  database: Database,
  filter: RequestFilter,
  read: (blocks: AsyncGenerator<BlockRow, void>) => Promise<T>,
): Promise<T> {
  return await database
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute((tx) => read(walkBlocks(tx, filter)));
}

/**
 * The same for all accounts. The filter must have bounds, since the walk goes back in time in steps. `onStep` gets the time
 * after which everything has been read.
 */
export async function readBlocksOfAll<T>(
  database: Database,
  filter: Omit<RequestFilter, "accountId">,
  read: (blocks: AsyncGenerator<BlockRow, void>) => Promise<T>,
  onStep: (reached: Date) => "go-on" | "stop" = () => "go-on",
): Promise<T> {
  return await database
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute((tx) => read(walkAllBlocks(tx, filter, onStep)));
}

const firstStepMs = 60_000;
const stepMsMax = 8 * 24 * 60 * 60_000;
const stepGrowth = 8;

/**
 * Only a BRIN index is on the time alone, so the newest blocks are found by short periods. They grow while they have few blocks
 * that may contain calls, and shrink while they have more than a page of them.
 */
async function* walkAllBlocks(
  tx: Database,
  filter: Omit<RequestFilter, "accountId">,
  onStep: (reached: Date) => "go-on" | "stop",
): AsyncGenerator<BlockRow, void> {
  const { from, to } = findPeriod(filter);
  const conditions = sql.join([...listContentConditions(filter), sql`first_at <= ${to}`], sql` and `);
  /** Everything from here on has been read. */
  let reached = { created_at: new Date(to.getTime() + blockSpanMs + 1), id: "" };
  let stepMs = firstStepMs;
  for (let isOver = reached.created_at <= from; !isOver; ) {
    const start = new Date(Math.max(from.getTime(), reached.created_at.getTime() - stepMs));
    const { rows } = await sql<BlockRow>`
      select account_id, created_at, id, body from request_blocks
        where created_at >= ${start} and created_at <= ${reached.created_at}
          and (created_at, id) < (${reached.created_at}, ${reached.id}) and ${conditions}
        order by created_at desc, id desc limit ${pageBlocksMax}`.execute(tx);
    for (const row of rows) {
      yield row;
      await nextTurn();
    }
    const last = rows.length < pageBlocksMax ? undefined : rows.at(-1);
    reached = last ?? { created_at: start, id: "" };
    stepMs = last === undefined ? Math.min(stepMs * stepGrowth, stepMsMax) : Math.max(stepMs / stepGrowth, firstStepMs);
    isOver = (last === undefined && start <= from) || onStep(reached.created_at) === "stop";
  }
}

async function* walkBlocks(tx: Database, filter: RequestFilter): AsyncGenerator<BlockRow, void> {
  const conditions = [...listConditions(filter)];
  let last: BlockRow | undefined;
  for (let limit = firstPageBlocks; ; limit = Math.min(limit * 2, pageBlocksMax)) {
    const after = last === undefined ? sql`` : sql`and (created_at, id) < (${last.created_at}, ${last.id})`;
    const { rows } = await sql<BlockRow>`
      select account_id, created_at, id, body from request_blocks where ${sql.join(conditions, sql` and `)} ${after}
        order by created_at desc, id desc limit ${limit}`.execute(tx);
    for (const row of rows) {
      yield row;
      // A block takes about a millisecond to read.
      await nextTurn();
    }
    if (rows.length < limit) return;
    last = rows.at(-1);
  }
}

function* listConditions(filter: RequestFilter): Generator<RawBuilder<unknown>> {
  const { from, to } = findPeriod(filter);
  yield sql`account_id = ${filter.accountId}`;
  // The second bound of `created_at` only helps to skip partitions.
  yield sql`created_at >= ${from} and created_at <= ${new Date(to.getTime() + blockSpanMs)} and first_at <= ${to}`;
  yield* listContentConditions(filter);
}

/** What a block must contain. */
function* listContentConditions(filter: Omit<RequestFilter, "accountId">): Generator<RawBuilder<unknown>> {
  const { model, keyId, wire, status, errorCode } = filter;
  if (model !== null) yield sql`models @> array[${model}]`;
  if (keyId !== null) yield sql`key_ids @> array[${keyId}]`;
  if (wire !== null) yield sql`wires @> array[${wire}]`;
  if (errorCode !== null) yield sql`error_codes @> array[${errorCode}]`;
  for (const id of [filter.clientRequestId, filter.foreignId]) {
    if (id !== null) yield sql`client_id_hashes @> array[${hashId(id)}::integer]`;
  }
  if (status === null) return;
  // Rules most blocks out before the list below is compared.
  yield sql`${status.least} <= any (statuses)`;
  const statuses = Array.from({ length: status.most - status.least + 1 }, (_, index) => status.least + index);
  yield sql`statuses && ${statuses}::integer[]`;
}

/** The times between which all calls of a filter lie. */
function findPeriod({ from, to, after, ids }: Omit<RequestFilter, "accountId">): { from: Date; to: Date } {
  const earliest = (a: Date, b: Date): Date => (a < b ? a : b);
  const end = after === null ? to : earliest(to, after.createdAt);
  if (ids === null) return { from, to: end };
  if (ids.length === 0) return { from, to: new Date(0) };
  const times = ids.map(({ createdAt }) => createdAt.getTime());
  const least = Math.max(from.getTime(), Math.min(...times));
  return { from: new Date(least), to: earliest(end, new Date(Math.max(...times))) };
}

/** The newest blocks of all accounts. */
export async function listNewestBlocks(database: Database, since: Date, limit: number): Promise<BlockRow[]> {
  const { rows } = await sql<BlockRow>`
    with newest as (
      select account_id, created_at, id from request_blocks where created_at >= ${since}
        order by created_at desc, id desc limit ${limit}
    )
    select account_id, created_at, id, body from newest join request_blocks using (account_id, created_at, id)
      order by created_at desc, id desc`.execute(database);
  return rows;
}

const trafficPageBlocks = 200;

/** The bodies of all accounts' blocks that may contain calls of a period, in one snapshot. */
export async function readTrafficBlocks(
  database: Database,
  { from, to }: { from: Date; to: Date },
  read: (body: Buffer) => void,
): Promise<void> {
  await database
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (tx) => {
      let last: BlockRow | undefined;
      for (;;) {
        const after =
          last === undefined
            ? sql``
            : sql`and (created_at, account_id, id) > (${last.created_at}, ${last.account_id}, ${last.id})`;
        const { rows } = await sql<BlockRow>`
          select account_id, created_at, id, body from request_blocks
            where created_at >= ${from} and created_at <= ${new Date(to.getTime() + blockSpanMs)} and first_at < ${to} ${after}
            order by created_at, account_id, id limit ${trafficPageBlocks}`.execute(tx);
        for (const { body } of rows) {
          read(body);
          await nextTurn();
        }
        last = rows.at(-1);
        if (rows.length < trafficPageBlocks) return;
      }
    });
}

/** The blocks of any account that may contain a call. The BRIN index finds an hour of blocks, however many accounts there are. */
export async function listBlocksAt(database: Database, { createdAt }: RequestPlace): Promise<BlockRow[]> {
  const { rows } = await sql<BlockRow>`
    select account_id, created_at, id, body from request_blocks
      where created_at between ${createdAt} and ${new Date(createdAt.getTime() + blockSpanMs)}
        and first_at <= ${createdAt}`.execute(database);
  return rows;
}

/** Accounts with many small blocks, and the hours of these. */
export async function listScattered(
  database: Database,
  {
    from,
    to,
    callsMax,
    blocksMin,
    limit,
  }: { from: Date; to: Date; callsMax: number; blocksMin: number; limit: number },
): Promise<{ accountId: AccountId; hour: Date }[]> {
  const { rows } = await sql<{ account_id: AccountId; hour: Date }>`
    select account_id, date_bin('1 hour', created_at, 'epoch'::timestamptz) as hour from request_blocks
      where created_at >= ${from} and created_at < ${to} and calls < ${callsMax}
      group by 1, 2 having count(*) >= ${blocksMin} order by 2, 1 limit ${limit}`.execute(database);
  return rows.map(({ account_id: accountId, hour }) => ({ accountId, hour }));
}

/** Removes and returns the oldest small blocks of an account within a period. */
export async function takeBlocks(
  tx: Database,
  {
    accountId,
    from,
    to,
    callsMax,
    limit,
  }: { accountId: AccountId; from: Date; to: Date; callsMax: number; limit: number },
): Promise<BlockRow[]> {
  const { rows } = await sql<BlockRow>`
    delete from request_blocks using (
      select account_id, created_at, id from request_blocks
        where account_id = ${accountId} and created_at >= ${from} and created_at < ${to} and calls < ${callsMax}
        order by created_at, id limit ${limit} for update skip locked
    ) as picked
      where request_blocks.account_id = picked.account_id and request_blocks.created_at = picked.created_at
        and request_blocks.id = picked.id
        and request_blocks.created_at >= ${from} and request_blocks.created_at < ${to}
      returning request_blocks.account_id, request_blocks.created_at, request_blocks.id, request_blocks.body`.execute(
    tx,
  );
  return rows;
}
