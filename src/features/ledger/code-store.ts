import { sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Tables } from "../../platform/database/tables.ts";
import type { CodeBatch, RedeemCode } from "./code.ts";

export async function insertBatch(tx: Database, batch: CodeBatch): Promise<void> {
  await tx
    .insertInto("code_batches")
    .values({
      id: batch.id,
      kind: batch.kind,
      amount_nano: batch.amount,
      currency: batch.currency,
      gift_days: batch.giftDays,
      note: batch.note,
      code_count: batch.codes,
      created_by: batch.createdBy,
      created_at: batch.createdAt,
      expires_at: batch.expiresAt,
    })
    .execute();
}

export async function insertCode(tx: Database, code: RedeemCode, hash: Buffer): Promise<void> {
  await tx
    .insertInto("redeem_codes")
    .values({
      id: code.id,
      batch_id: code.batchId,
      hash,
      last_four: code.lastFour,
      kind: code.kind,
      amount_nano: code.amount,
      currency: code.currency,
      gift_days: code.giftDays,
      note: code.note,
      created_at: code.createdAt,
      expires_at: code.expiresAt,
    })
    .execute();
}

/** `FOR UPDATE`, so a code is redeemed or voided once. Lock order: code, then wallet. */
export async function lockCodeByHash(tx: Database, hash: Buffer): Promise<RedeemCode | null> {
  const row = await selectCodes(tx).where("hash", "=", hash).forUpdate().executeTakeFirst();
  return row === undefined ? null : toCode(row);
}

export async function lockCode(tx: Database, id: string): Promise<RedeemCode | null> {
  const row = await selectCodes(tx).where("id", "=", id).forUpdate().executeTakeFirst();
  return row === undefined ? null : toCode(row);
}

export async function updateCode(tx: Database, code: RedeemCode): Promise<void> {
  await tx
    .updateTable("redeem_codes")
    .set({ voided_at: code.voidedAt, redeemed_at: code.redeemedAt, redeemed_by: code.redeemedBy })
    .where("id", "=", code.id)
    .execute();
}

export async function listCodes(database: Database): Promise<RedeemCode[]> {
  return (await selectCodes(database).orderBy("id").execute()).map(toCode);
}

/** How many codes of a batch were redeemed and voided. */
export type BatchUse = CodeBatch & { redeemed: number; voided: number };

/** Newest first. */
export async function listBatches(
  database: Database,
  { id = null, after = null, limit }: { id?: string | null; after?: string | null; limit: number },
): Promise<BatchUse[]> {
  const { rows } = await sql<Tables["code_batches"] & { redeemed: number; voided: number }>`
    select batch.*, used.redeemed, used.voided from code_batches batch cross join lateral (
        select count(redeemed_at)::integer as redeemed, count(voided_at)::integer as voided from redeem_codes
          where batch_id = batch.id) used
      where (${id}::text is null or batch.id = ${id}) and (${after}::text is null or batch.id < ${after})
      order by batch.id desc limit ${limit}`.execute(database);
  return rows.map((row) => ({
    // The table's check constraints guarantee the prefix; only createCodes writes the kind.
    id: row.id as CodeBatch["id"],
    kind: row.kind as CodeBatch["kind"],
    amount: nano(row.amount_nano),
    currency: row.currency,
    giftDays: row.gift_days,
    note: row.note,
    codes: row.code_count,
    createdBy: row.created_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    redeemed: row.redeemed,
    voided: row.voided,
  }));
}

/** Newest first, of all batches or one. */
export async function listCodePage(
  database: Database,
  { batchId, after, limit }: { batchId: string | null; after: string | null; limit: number },
): Promise<RedeemCode[]> {
  let query = selectCodes(database);
  if (batchId !== null) query = query.where("batch_id", "=", batchId);
  if (after !== null) query = query.where("id", "<", after);
  return (await query.orderBy("id", "desc").limit(limit).execute()).map(toCode);
}

/** Voids the codes of a batch that are neither redeemed nor voided. Returns how many. */
export async function voidBatchCodes(tx: Database, batchId: string, now: Date): Promise<number> {
  const { rows } = await sql`
    with unused as materialized (
      select id from redeem_codes where batch_id = ${batchId} and redeemed_at is null and voided_at is null
        order by id for update)
    update redeem_codes set voided_at = ${now} from unused
      where redeem_codes.id = unused.id and redeemed_at is null and voided_at is null
      returning redeem_codes.id`.execute(tx);
  return rows.length;
}

function selectCodes(database: Database) {
  return database.selectFrom("redeem_codes").selectAll();
}

function toCode(row: Tables["redeem_codes"]): RedeemCode {
  return {
    // The table's check constraints guarantee the id prefixes and the kind.
    id: row.id as RedeemCode["id"],
    batchId: row.batch_id,
    lastFour: row.last_four,
    kind: row.kind as RedeemCode["kind"],
    amount: nano(row.amount_nano),
    currency: row.currency,
    giftDays: row.gift_days,
    note: row.note,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    voidedAt: row.voided_at,
    redeemedAt: row.redeemed_at,
    redeemedBy: row.redeemed_by as AccountId | null,
  };
}
