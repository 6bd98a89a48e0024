import type { AccountId } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Tables } from "../../platform/database/tables.ts";
import type { RedeemCode } from "./code.ts";

export async function insertCode(tx: Database, code: RedeemCode, hash: Buffer): Promise<void> {
  await tx
    .insertInto("redeem_codes")
    .values({
      id: code.id,
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

function selectCodes(database: Database) {
  return database.selectFrom("redeem_codes").selectAll();
}

function toCode(row: Tables["redeem_codes"]): RedeemCode {
  return {
    // The table's check constraints guarantee the id prefixes and the kind.
    id: row.id as RedeemCode["id"],
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
