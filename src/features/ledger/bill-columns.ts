import type { Bill } from "../../lib/bill.ts";
import { nano } from "../../lib/money.ts";

/** How a bill is kept with its charge; an entry that is no charge has none of it. */
export type BillColumns = {
  price_id: string;
  item_names: string[] | null;
  item_quantities: bigint[] | null;
  item_rates_nano: bigint[] | null;
  rates_per: bigint | null;
  minimum_nano: bigint | null;
  quota_units: bigint | null;
};

export function toBill(row: BillColumns): Bill {
  return {
    priceId: row.price_id,
    items: (row.item_names ?? []).map((name, index) => ({
      name,
      quantity: row.item_quantities?.[index] ?? 0n,
      rate: nano(row.item_rates_nano?.[index] ?? 0n),
    })),
    per: row.rates_per ?? 1n,
    minimum: nano(row.minimum_nano ?? 0n),
    quotaUnits: row.quota_units ?? 0n,
  };
}
