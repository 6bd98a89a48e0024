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

/** A lease on a background response. `run` is its fencing token: a process that lost the lease cannot write. */
export type ResponseLease = ResponseKey & { run: number };

export type ResponseEnd = { state: StoredState; body: string; itemIds: readonly string[]; events: string | null };

/** Ends a background response; returns whether it was still running, under this lease if one is given. */
export async function endResponse(
  database: Database,
  { accountId, id, run = null }: ResponseKey & { run?: number | null },
  end: ResponseEnd,
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
      work: null,
    })
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .where("state", "=", "in_progress")
    .$if(run !== null, (query) => query.where("run", "=", run))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Stores what another process needs to run the response again; returns whether the response still runs. */
export async function saveWork(database: Database, lease: ResponseLease, work: string): Promise<boolean> {
  const { numUpdatedRows } = await selectLease(database, lease).set({ work }).executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Renews the lease and stores the events so far; returns whether the response still runs under this lease. */
export async function renewLease(
  database: Database,
  lease: ResponseLease,
  { leaseUntil, events }: { leaseUntil: Date; events: string | null },
): Promise<boolean> {
  const { numUpdatedRows } = await selectLease(database, lease)
    .set({ lease_until: leaseUntil, ...(events === null ? {} : { events }) })
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

function selectLease(database: Database, { accountId, id, run }: ResponseLease) {
  return database
    .updateTable("responses")
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .where("state", "=", "in_progress")
    .where("run", "=", run);
}

/** `work` is `null` if the caller never got the response's id. */
export type AbandonedResponse = ResponseLease & {
  body: string;
  events: string | null;
  work: string | null;
};

type AbandonedRow = Omit<AbandonedResponse, "accountId"> & { account_id: AccountId };

/**
 * Takes over the leases of responses whose process died: all, or the one of `key`. Also reads `idempotency_keys`: a process
 * that renews its claim is alive. `FOR UPDATE SKIP LOCKED`: skip rows another process is taking over.
 */
export async function takeOverAbandoned(
  database: Database,
  key: ResponseKey | null,
  { now, leaseUntil, countMax }: { now: Date; leaseUntil: Date; countMax: number },
): Promise<AbandonedResponse[]> {
  const own = key === null ? sql`` : sql`and account_id = ${key.accountId} and id = ${key.id}`;
  const { rows } = await sql<AbandonedRow>`
    update responses set lease_until = ${leaseUntil}, run = run + 1
    where (account_id, id) in (
      select account_id, id from responses abandoned
      where lease_until <= ${now} ${own} and not exists (
        select from idempotency_keys claim
        where claim.account_id = abandoned.account_id and claim.key = 'response ' || abandoned.id
          and claim.state = 'running' and claim.lease_until > ${now})
      limit ${countMax} for update skip locked)
    returning account_id, id, run, body, events, work`.execute(database);
  return rows.map(({ account_id: accountId, ...row }) => ({ ...row, accountId }));
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
