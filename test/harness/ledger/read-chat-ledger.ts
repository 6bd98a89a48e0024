import { sql } from "kysely";
import type { AccountId } from "../../../src/lib/ids.ts";
import { nano, presentMoney } from "../../../src/lib/money.ts";
import type { Database } from "../../../src/platform/database/database.ts";

/** A charge as stored: the counted usage, and the price paid. */
export type Charge = {
  holdId: string;
  unit: string;
  priceId: string;
  items: Record<string, number>;
  /** In the API's format; for a quota in its units. */
  paid: string;
  lost: string;
};

/** Every charge of an account, oldest first. */
export async function listCharges(database: Database, accountId: AccountId): Promise<Charge[]> {
  const rows = await database
    .selectFrom("charges")
    .selectAll()
    .where("account_id", "=", accountId)
    // Several may have the same time.
    .orderBy(sql`(select min(number) from postings where postings.id = charges.id)`)
    .execute();
  return rows.map((row) => ({
    holdId: row.hold_id,
    unit: row.unit,
    priceId: row.price_id,
    items: Object.fromEntries(row.item_names.map((name, index) => [name, Number(row.item_quantities[index])])),
    paid: row.unit === "money" ? presentMoney(nano(row.paid)) : String(row.paid),
    lost: row.unit === "money" ? presentMoney(nano(row.lost)) : String(row.lost),
  }));
}

export type HoldRow = { id: string; state: string; unit: string; amount: string; settled: string; causeId: string };

/** Every hold of an account, oldest first. */
export async function listHolds(database: Database, accountId: AccountId): Promise<HoldRow[]> {
  const rows = await database
    .selectFrom("holds")
    .select(["id", "state", "unit", "amount", "settled", "cause_id"])
    .where("account_id", "=", accountId)
    .orderBy("opened_at")
    .execute();
  return rows.map(({ id, state, unit, amount, settled, cause_id }) => ({
    id,
    state,
    unit,
    amount: unit === "money" ? presentMoney(nano(amount)) : String(amount),
    settled: unit === "money" ? presentMoney(nano(settled)) : String(settled),
    causeId: cause_id,
  }));
}
