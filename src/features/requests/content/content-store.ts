import { sql } from "kysely";
import type { AccountId } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";
import { createRowType, presentRows } from "../../../platform/database/row-arrays.ts";
import type { ContentState, StoredContent } from "./request-content.ts";

export type ContentPlace = { accountId: AccountId; createdAt: Date; id: string };
export type ContentRecord = ContentPlace & StoredContent;

/** The table's columns, in order. */
const contentRow = createRowType<ContentRecord>("request_contents", [
  ["account_id", "text", ({ accountId }) => accountId],
  ["created_at", "timestamptz", ({ createdAt }) => createdAt],
  ["id", "text", ({ id }) => id],
  ["state", "text", ({ state }) => state],
  ["sealed", "bytea", ({ sealed }) => sealed],
]);

/** Ignores existing rows: a batch is retried if its commit was not acknowledged. */
export async function insertContents(tx: Database, contents: readonly ContentRecord[]): Promise<void> {
  await sql`
    insert into request_contents select * from unnest(${presentRows(contentRow, contents)}::request_contents[])
      on conflict do nothing`.execute(tx);
}

export async function findContent(
  database: Database,
  { accountId, createdAt, id }: ContentPlace,
): Promise<StoredContent | null> {
  const row = await database
    .selectFrom("request_contents")
    .select(["state", "sealed"])
    .where("account_id", "=", accountId)
    .where("created_at", "=", createdAt)
    .where("id", "=", id)
    .executeTakeFirst();
  // A check constraint guarantees the value.
  return row === undefined ? null : { state: row.state as ContentState, sealed: row.sealed };
}

/** The requests that have, or had, stored content not older than `keptFrom`. */
export async function listContentIds(
  database: Database,
  { accountId, requests, keptFrom }: ContentSelection,
): Promise<Set<string>> {
  const young = requests.filter(({ createdAt }) => createdAt >= keptFrom);
  if (young.length === 0) return new Set();
  const moments = young.map(({ createdAt }) => createdAt);
  const { rows } = await sql<{ id: string }>`
    select id from request_contents
      where account_id = ${accountId} and created_at = any(${moments}::timestamptz[])
        and created_at between ${minimum(moments)} and ${maximum(moments)}
        and id = any(${young.map(({ id }) => id)})`.execute(database);
  return new Set(rows.map(({ id }) => id));
}

type ContentSelection = {
  accountId: AccountId;
  requests: readonly { id: string; createdAt: Date }[];
  keptFrom: Date;
};

/** Bounds for partition pruning. */
const minimum = (moments: readonly Date[]): Date => new Date(Math.min(...moments.map(Number)));
const maximum = (moments: readonly Date[]): Date => new Date(Math.max(...moments.map(Number)));

/** Deletes the bodies, but keeps the row as a tombstone. */
export async function deleteContent(database: Database, { accountId, createdAt, id }: ContentPlace): Promise<void> {
  await database
    .updateTable("request_contents")
    .set({ state: "deleted" satisfies ContentState, sealed: null })
    .where("account_id", "=", accountId)
    .where("created_at", "=", createdAt)
    .where("id", "=", id)
    .execute();
}
