import { sql } from "kysely";
import { readCosts, type UpstreamCost } from "../../../lib/upstream-cost.ts";
import type { Database } from "../../../platform/database/database.ts";

export type ChargeMoney = {
  id: string;
  unit: "money" | "text" | "image" | "video";
  paid: bigint;
  refunded: bigint;
  /** What each route cost; empty if it is not known. */
  costs: UpstreamCost[];
};

/** A charge with what customers don't see: its costs. From the tables of the ledger. */
export async function findChargeMoney(database: Database, id: string): Promise<ChargeMoney | null> {
  const { rows } = await sql<{
    unit: ChargeMoney["unit"];
    paid: bigint;
    refunded: bigint;
    item_names: string[];
    item_quantities: bigint[];
  }>`
    select unit, paid, item_names, item_quantities,
        (select coalesce(sum(amount), 0)::bigint from postings where refund_of = charges.id) as refunded
      from charges where id = ${id}`.execute(database);
  const [row] = rows;
  if (row === undefined) return null;
  const items = row.item_names.map((name, index) => ({ name, quantity: row.item_quantities[index] ?? 0n }));
  return { id, unit: row.unit, paid: row.paid, refunded: row.refunded, costs: readCosts(items) };
}
