import { sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";

/** A past charge of money. Lists are joined: parsing arrays would take most of the scan. */
export type ScannedCharge = {
  account: AccountId;
  model: string | null;
  capability: string | null;
  /** Joined by `separator`. */
  names: string;
  /** Joined by commas. */
  quantities: string;
  /** What was charged, with the part that the account could not pay. */
  billed: bigint;
};

/** No name contains it. */
export const separator = "\u001f";
const fetchedRows = 20_000;

/** Reads every charge of money since a time, in one snapshot, from the tables of ledger and catalog. */
export async function scanCharges(
  database: Database,
  since: Date,
  visit: (charges: readonly ScannedCharge[]) => void,
): Promise<void> {
  await database
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (tx) => {
      await sql`
        declare scanned_charges no scroll cursor for
          select charge.account_id as account, price.model_id as model, price.capability,
              array_to_string(charge.item_names, ${sql.lit(separator)}) as names,
              array_to_string(charge.item_quantities, ',') as quantities, charge.paid + charge.lost as billed
            from charges charge left join prices price on price.id = charge.price_id
            where charge.created_at >= ${sql.lit(since.toISOString())}::timestamptz and charge.unit = 'money'`.execute(
        tx,
      );
      for (;;) {
        const { rows } = await sql<ScannedCharge>`fetch ${sql.lit(fetchedRows)} from scanned_charges`.execute(tx);
        visit(rows);
        if (rows.length < fetchedRows) return;
      }
    });
}
