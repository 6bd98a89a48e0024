import { sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";

export type StoredConversation = {
  accountId: AccountId;
  id: string;
  /** The caller's metadata, as JSON. */
  metadata: string;
  createdAt: Date;
};

export type ConversationKey = Pick<StoredConversation, "accountId" | "id">;

/** An item and its JSON text for responses. */
export type StoredItem = { id: string; text: string };

export async function countConversations(database: Database, accountId: AccountId): Promise<number> {
  const { count } = await database
    .selectFrom("conversations")
    .select(sql<number>`count(*)::int`.as("count"))
    .where("account_id", "=", accountId)
    .executeTakeFirstOrThrow();
  return count;
}

export async function insertConversation(
  tx: Database,
  { accountId, id, metadata, createdAt, expiresAt }: StoredConversation & { expiresAt: Date },
): Promise<void> {
  await tx
    .insertInto("conversations")
    .values({ account_id: accountId, id, metadata, created_at: createdAt, expires_at: expiresAt })
    .execute();
}

type FoundConversation = StoredConversation & { bytes: number; itemCount: number };

export async function findConversation(
  database: Database,
  { accountId, id }: ConversationKey,
  now: Date,
): Promise<FoundConversation | null> {
  const row = await database
    .selectFrom("conversations")
    .select(["metadata", "created_at", "bytes", "item_count"])
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { metadata, created_at: createdAt, bytes, item_count: itemCount } = row;
  return { accountId, id, metadata, createdAt, bytes: Number(bytes), itemCount };
}

export async function updateMetadata(
  database: Database,
  { accountId, id }: ConversationKey,
  { metadata, expiresAt }: { metadata: string; expiresAt: Date },
): Promise<void> {
  await database
    .updateTable("conversations")
    .set({ metadata, expires_at: expiresAt })
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .execute();
}

export async function deleteConversation(database: Database, { accountId, id }: ConversationKey): Promise<void> {
  await database.deleteFrom("conversations").where("account_id", "=", accountId).where("id", "=", id).execute();
}

/**
 * Appends items in one statement: the row lock puts concurrent appends before or after. An item whose id exists already
 * is skipped. Returns whether the conversation still exists.
 */
export async function addItems(
  database: Database,
  { accountId, id }: ConversationKey,
  { items, now, expiresAt }: { items: readonly StoredItem[]; now: Date; expiresAt: Date },
): Promise<boolean> {
  // One item per line: JSON text has no line breaks, and an array of texts would need escaping again, on the event
  // loop.
  const texts = items.map(({ text }) => text).join("\n");
  const { rows } = await sql`
    with named as (
      select account_id, id, next_number from conversations
      where account_id = ${accountId} and id = ${id} and expires_at > ${now} for update
    ), added as (
      insert into conversation_items (account_id, conversation_id, number, id, item)
      select named.account_id, named.id, named.next_number + given.place, given.id, given.item
      from named, unnest(${items.map((item) => item.id)}::text[], string_to_array(${texts}, chr(10)))
        with ordinality as given (id, item, place)
      on conflict do nothing
      returning octet_length(item) as bytes
    )
    update conversations conversation
    set next_number = conversation.next_number + ${items.length}::int,
      item_count = item_count + (select count(*)::int from added),
      bytes = bytes + (select coalesce(sum(added.bytes), 0) from added),
      expires_at = ${expiresAt}
    from named where conversation.account_id = named.account_id and conversation.id = named.id
    returning conversation.id`.execute(database);
  return rows.length > 0;
}

/** Returns whether the item existed. */
export async function deleteItem(
  database: Database,
  { accountId, id }: ConversationKey,
  itemId: string,
): Promise<boolean> {
  const { rows } = await sql`
    with removed as (
      delete from conversation_items
      where account_id = ${accountId} and conversation_id = ${id} and id = ${itemId}
      returning octet_length(item) as bytes
    )
    update conversations set item_count = item_count - 1, bytes = conversations.bytes - removed.bytes
    from removed where account_id = ${accountId} and id = ${id}
    returning id`.execute(database);
  return rows.length > 0;
}

export async function findItem(
  database: Database,
  { accountId, id }: ConversationKey,
  itemId: string,
): Promise<string | null> {
  const row = await database
    .selectFrom("conversation_items")
    .select("item")
    .where("account_id", "=", accountId)
    .where("conversation_id", "=", id)
    .where("id", "=", itemId)
    .executeTakeFirst();
  return row?.item ?? null;
}

/** The JSON texts of all items, oldest first. The caller has checked their total size. */
export async function listItems(database: Database, { accountId, id }: ConversationKey): Promise<string[]> {
  const rows = await database
    .selectFrom("conversation_items")
    .select("item")
    .where("account_id", "=", accountId)
    .where("conversation_id", "=", id)
    .orderBy("number")
    .execute();
  return rows.map(({ item }) => item);
}

export type ItemPage = { limit: number; bytesMax: number; order: "asc" | "desc"; after: string | null };

/** A page of items after another; at least one item, then as many as fit. `null` if `after` does not exist. */
export async function listItemPage(
  database: Database,
  { accountId, id }: ConversationKey,
  { limit, bytesMax, order, after }: ItemPage,
): Promise<{ items: StoredItem[]; hasMore: boolean } | null> {
  const own = database
    .selectFrom("conversation_items")
    .where("account_id", "=", accountId)
    .where("conversation_id", "=", id);
  const last = after === null ? null : await own.select("number").where("id", "=", after).executeTakeFirst();
  if (last === undefined) return null;
  let next = own.select(["id", "item", "number"]).orderBy("number", order);
  if (last !== null) next = next.where("number", order === "asc" ? ">" : "<", last.number);
  const direction = sql.raw(order);
  const { rows } = await sql<{ id: string; text: string; candidates: number }>`
    with next as materialized (${next.limit(limit + 1)}),
      measured as (
        select *, row_number() over page as place, sum(octet_length(item)) over page as bytes, count(*) over () as candidates
        from next window page as (order by number ${direction})
      )
    select id, item as text, candidates::int from measured
    where place <= ${limit} and (place = 1 or bytes <= ${bytesMax}) order by number ${direction}`.execute(database);
  return {
    items: rows.map(({ id: itemId, text }) => ({ id: itemId, text })),
    hasMore: (rows[0]?.candidates ?? 0) > rows.length,
  };
}

/** Deletes a batch of expired conversations and returns the number. */
export async function deleteExpiredConversations(database: Database, now: Date, countMax: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from conversations where (account_id, id) in (
      select account_id, id from conversations where expires_at <= ${now} limit ${countMax})`.execute(database);
  return Number(numAffectedRows);
}
