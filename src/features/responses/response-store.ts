import { sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { ResponseStatus } from "./response-envelope.ts";

export type StoredState = Exclude<ResponseStatus, "queued">;

export type StoredResponse = {
  accountId: AccountId;
  id: string;
  previousId: string | null;
  state: StoredState;
  /** The items of its own request and the response, as JSON. */
  input: string;
  body: string;
};

export type NewResponse = StoredResponse & {
  itemIds: readonly string[];
  /** Only of a streamed background response. */
  events: string | null;
  leaseUntil: Date | null;
  createdAt: Date;
  expiresAt: Date;
};

type ResponseKey = Pick<StoredResponse, "accountId" | "id">;

export async function insertResponse(database: Database, response: NewResponse): Promise<void> {
  const { input, body, itemIds } = response;
  await database
    .insertInto("responses")
    .values({
      account_id: response.accountId,
      id: response.id,
      previous_id: response.previousId,
      state: response.state,
      input,
      body,
      bytes: Buffer.byteLength(input) + Buffer.byteLength(body),
      item_ids: itemIds.length === 0 ? null : [...itemIds],
      events: response.events,
      lease_until: response.leaseUntil,
      created_at: response.createdAt,
      expires_at: response.expiresAt,
    })
    .execute();
}

const columns = ["account_id", "id", "previous_id", "state", "input", "body"] as const;

type ResponseRow = {
  account_id: string;
  id: string;
  previous_id: string | null;
  state: string;
  input: string;
  body: string;
};

function toResponse(row: ResponseRow): StoredResponse {
  return {
    accountId: row.account_id as AccountId,
    id: row.id,
    previousId: row.previous_id,
    // A check constraint allows no others.
    state: row.state as StoredState,
    input: row.input,
    body: row.body,
  };
}

export async function findResponse(
  database: Database,
  { accountId, id }: ResponseKey,
  now: Date,
): Promise<StoredResponse | null> {
  const row = await database
    .selectFrom("responses")
    .select(columns)
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return row === undefined ? null : toResponse(row);
}

/**
 * A response and those it continues, oldest first, within the bounds. A response is stored as long as one that
 * continues it.
 */
export async function findChain(
  database: Database,
  { accountId, id }: ResponseKey,
  { now, countMax, bytesMax }: { now: Date; countMax: number; bytesMax: number },
): Promise<StoredResponse[]> {
  const { rows } = await sql<ResponseRow>`
    with recursive chain as (
      select account_id, id, previous_id, state, input, body, 1 as place, bytes::bigint as total
      from responses where account_id = ${accountId} and id = ${id} and expires_at > ${now}
      union all
      select earlier.account_id, earlier.id, earlier.previous_id, earlier.state, earlier.input, earlier.body,
        chain.place + 1, chain.total + earlier.bytes
      from responses earlier join chain on earlier.account_id = chain.account_id and earlier.id = chain.previous_id
      where chain.place < ${countMax} and chain.total <= ${bytesMax}
    )
    select account_id, id, previous_id, state, input, body from chain order by place desc`.execute(database);
  return rows.map(toResponse);
}

type ItemSearch = { responseIds: readonly string[]; itemIds: readonly string[]; now: Date; bytesMax: number };

/** The responses with one of these ids or an item with one of these ids; `null` if they exceed `bytesMax`. */
export async function findResponsesOfItems(
  database: Database,
  accountId: AccountId,
  { responseIds, itemIds, now, bytesMax }: ItemSearch,
): Promise<StoredResponse[] | null> {
  const found = database
    .selectFrom("responses")
    .where("account_id", "=", accountId)
    .where("expires_at", ">", now)
    .where(({ eb, or }) =>
      or([eb("id", "in", ["", ...responseIds]), sql<boolean>`item_ids && ${[...itemIds]}::text[]`]),
    );
  const { bytes } = await found.select(sql<string>`coalesce(sum(bytes), 0)`.as("bytes")).executeTakeFirstOrThrow();
  if (Number(bytes) > bytesMax) return null;
  return (await found.select(columns).execute()).map(toResponse);
}

/** Ends a background response; returns whether it was still running. */
export async function endResponse(
  database: Database,
  { accountId, id }: ResponseKey,
  end: { state: StoredState; body: string; itemIds: readonly string[]; events: string | null },
): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("responses")
    .set({
      state: end.state,
      body: end.body,
      bytes: sql`octet_length(input) + ${Buffer.byteLength(end.body)}::integer`,
      item_ids: end.itemIds.length === 0 ? null : [...end.itemIds],
      events: end.events,
      lease_until: null,
    })
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .where("state", "=", "in_progress")
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Renews the lease and stores the events so far; returns whether the response still exists and runs. */
export async function renewLease(
  database: Database,
  { accountId, id }: ResponseKey,
  { leaseUntil, events }: { leaseUntil: Date; events: string | null },
): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("responses")
    .set({ lease_until: leaseUntil, ...(events === null ? {} : { events }) })
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .where("state", "=", "in_progress")
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export type AbandonedResponse = ResponseKey & { body: string; events: string | null };

/** A batch of responses whose process died. */
export async function findAbandoned(database: Database, now: Date, countMax: number): Promise<AbandonedResponse[]> {
  const rows = await database
    .selectFrom("responses")
    .select(["account_id", "id", "body", "events"])
    .where("lease_until", "<=", now)
    .limit(countMax)
    .execute();
  return rows.map(({ account_id, id, body, events }) => ({ accountId: account_id as AccountId, id, body, events }));
}

export async function findEvents(
  database: Database,
  { accountId, id }: ResponseKey,
): Promise<{ state: StoredState; events: string | null } | null> {
  const row = await database
    .selectFrom("responses")
    .select(["state", "events"])
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row === undefined ? null : { state: row.state as StoredState, events: row.events };
}

/** Returns whether it existed. */
export async function deleteResponse(database: Database, { accountId, id }: ResponseKey): Promise<boolean> {
  const { numDeletedRows } = await database
    .deleteFrom("responses")
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Deletes a batch of expired responses that no other continues, and returns the number. */
export async function deleteExpiredResponses(database: Database, now: Date, countMax: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from responses where (account_id, id) in (
      select account_id, id from responses expired where expires_at <= ${now}
        and not exists (
          select from responses later where later.account_id = expired.account_id and later.previous_id = expired.id)
      limit ${countMax})`.execute(database);
  return Number(numAffectedRows);
}

/** The total bytes of an account's responses and conversations. */
export async function sumStoredTexts(database: Database, accountId: AccountId): Promise<number> {
  const { bytes } = await database
    .selectFrom("stored_texts")
    .select(sql<string>`coalesce(sum(bytes), 0)`.as("bytes"))
    .where("account_id", "=", accountId)
    .executeTakeFirstOrThrow();
  return Number(bytes);
}
