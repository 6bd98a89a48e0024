import { sql } from "kysely";
import type { AccountId, FileId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { FileKind, FilePurpose, StoredFile } from "./file.ts";

export type FileUsage = { files: number; bytes: number };

/** Returns `false` if the id already exists. */
export async function insertFile(tx: Database, file: StoredFile): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("files")
    .values({
      id: file.id,
      account_id: file.accountId,
      purpose: file.purpose,
      kind: file.kind,
      content_type: file.contentType,
      bytes: BigInt(file.bytes),
      sha256: Buffer.from(file.sha256, "hex"),
      filename: file.filename,
      width: file.width,
      height: file.height,
      duration_ms: file.durationMs === null ? null : BigInt(file.durationMs),
      storage_key: file.storageKey,
      // Hidden until the task that created it is charged.
      is_withheld: file.purpose === "output",
      created_at: file.createdAt,
      expires_at: file.expiresAt,
    })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

export async function findFile(database: Database, fileId: string): Promise<StoredFile | null> {
  const row = await selectFiles(database).where("id", "=", fileId).executeTakeFirst();
  return row === undefined ? null : toFile(row);
}

/** Unhides the outputs of a charged task. */
export async function releaseOutputs(tx: Database, fileIds: readonly string[]): Promise<void> {
  if (fileIds.length === 0) return;
  await tx.updateTable("files").set({ is_withheld: false }).where("id", "in", fileIds).execute();
}

export type FileFilter = { accountId?: AccountId; purpose?: FilePurpose; unexpiredAt?: Date; hidesWithheld?: boolean };

/** By age, newest first by default, starting after the id `after`. */
export async function listFiles(
  database: Database,
  { accountId, purpose, unexpiredAt, hidesWithheld = false }: FileFilter,
  { after, order = "desc", limit }: { after?: string; order?: "asc" | "desc"; limit: number },
): Promise<StoredFile[]> {
  let query = selectFiles(database).orderBy("id", order).limit(limit);
  if (accountId !== undefined) query = query.where("account_id", "=", accountId);
  if (purpose !== undefined) query = query.where("purpose", "=", purpose);
  if (hidesWithheld) query = query.where("is_withheld", "=", false);
  if (unexpiredAt !== undefined) query = query.where("expires_at", ">", unexpiredAt);
  if (after !== undefined) query = query.where("id", order === "desc" ? "<" : ">", after);
  return (await query.execute()).map(toFile);
}

function selectFiles(database: Database) {
  return database
    .selectFrom("files")
    .select(["id", "account_id", "purpose", "kind", "content_type", "bytes", "sha256", "filename"])
    .select(["width", "height", "duration_ms", "storage_key", "created_at", "expires_at"]);
}

type FileRow = Awaited<ReturnType<ReturnType<typeof selectFiles>["executeTakeFirstOrThrow"]>>;

function toFile(row: FileRow): StoredFile {
  return {
    id: row.id as FileId,
    accountId: row.account_id as AccountId,
    purpose: row.purpose as FilePurpose,
    kind: row.kind as FileKind,
    contentType: row.content_type,
    bytes: Number(row.bytes),
    sha256: row.sha256.toString("hex"),
    filename: row.filename,
    width: row.width,
    height: row.height,
    durationMs: row.duration_ms === null ? null : Number(row.duration_ms),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    storageKey: row.storage_key,
  };
}

/** An account's current uploads, without expired files that are not swept yet. */
export async function findUsage(database: Database, accountId: AccountId, now: Date): Promise<FileUsage> {
  const { rows } = await sql<{ files: bigint; bytes: bigint }>`
    select usage.files - expired.files as files, usage.bytes - expired.bytes as bytes
      from file_usages usage, lateral (
        select count(*) as files, coalesce(sum(bytes), 0)::bigint as bytes from files
          where account_id = usage.account_id and purpose = 'generation' and expires_at <= ${now}) expired
      where usage.account_id = ${accountId}`.execute(database);
  return { files: Number(rows[0]?.files ?? 0), bytes: Number(rows[0]?.bytes ?? 0) };
}

/** Counts an upload; the row's lock serializes quota checks until the transaction ends. */
export async function addUsage(tx: Database, accountId: AccountId, bytes: number): Promise<void> {
  await tx
    .insertInto("file_usages")
    .values({ account_id: accountId, files: 1n, bytes: BigInt(bytes) })
    .onConflict((conflict) =>
      conflict.column("account_id").doUpdateSet((eb) => ({
        files: eb("file_usages.files", "+", eb.ref("excluded.files")),
        bytes: eb("file_usages.bytes", "+", eb.ref("excluded.bytes")),
      })),
    )
    .execute();
}

/**
 * Deletes one file, or some expired ones, and marks their bytes for deletion, in one statement. Returns the storage keys
 * of the bytes.
 */
export async function deleteFiles(
  database: Database,
  which: { fileId: string; accountId?: AccountId } | { expiredAt: Date; countMax: number },
  dueAt: Date,
): Promise<string[]> {
  const chosen =
    "fileId" in which
      ? sql`id = ${which.fileId} and (${which.accountId ?? null}::text is null or account_id = ${which.accountId ?? null})`
      : sql`id in (select id from files where expires_at <= ${which.expiredAt} order by expires_at
          limit ${which.countMax} for update skip locked)`;
  const { rows } = await sql<{ storage_key: string }>`
    with gone as (
        delete from files where ${chosen} returning account_id, purpose, bytes, storage_key),
      doomed as (
        insert into unowned_bytes (storage_key, due_at, is_doomed) select storage_key, ${dueAt}::timestamptz, true from gone),
      freed as (
        select account_id, count(*) as files, sum(bytes)::bigint as bytes from gone
          where purpose <> 'output' group by account_id),
      counted as (
        update file_usages usage set files = usage.files - freed.files, bytes = usage.bytes - freed.bytes
          from freed where usage.account_id = freed.account_id)
    select storage_key from gone`.execute(database);
  return rows.map(({ storage_key }) => storage_key);
}
