import { sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Unit } from "../ledger/index.ts";

/** Charges that have everything in common that they are told apart by. */
export type ChargeGroup = {
  /** Which bucket of time, from 1 on. */
  bucket: number;
  model: string | null;
  keyId: string | null;
  unit: Unit;
  items: readonly { name: string; quantity: bigint }[];
  calls: bigint;
  paid: bigint;
};

export type GroupedCharges = {
  accountId: AccountId;
  /** The buckets' beginnings, and the end of the last. */
  boundaries: readonly Date[];
  by: { model: boolean; key: boolean };
  model: string | null;
  keyId: string | null;
  groupsMax: number;
};

/** A drama has an item for each of its four stages, a chat call three. */
const itemsMax = 8;
const itemPlaces = Array.from({ length: itemsMax }, (_, index) => index + 1);

/**
 * What was charged in each bucket of time, from the ledger's charges and the catalog's prices. The ends of the time are
 * asked for in a way that hides them from the planner: whatever it expects of an account with many charges, they are
 * found by their index and summed up as they come.
 */
export async function sumCharges(database: Database, asked: GroupedCharges): Promise<ChargeGroup[]> {
  const { accountId, boundaries, by, model, keyId, groupsMax } = asked;
  const moments = boundaries.map((moment) => moment.toISOString());
  const { rows } = await sql<GroupRow>`
    with sums as (
      select width_bucket(charge.created_at, (select ${moments}::timestamptz[])) as bucket,
          ${by.model ? sql`charge.price_id` : sql`null::text`} as price_id,
          ${by.key ? sql`charge.key_id` : sql`null::text`} as key_id,
          charge.unit, charge.item_names, count(*) as calls, sum(charge.paid)::text as paid,
          array[${sql.join(itemPlaces.map((place) => sql`sum(charge.item_quantities[${sql.lit(place)}])`))}]::text[]
            as quantities
        from charges charge
        where charge.account_id = ${accountId}
          and charge.created_at >= (select ${moments.at(0)}::timestamptz)
          and charge.created_at < (select ${moments.at(-1)}::timestamptz)
          and (${model}::text is null
            or charge.price_id = any (array (select id from prices where model_id = ${model})))
          and (${keyId}::text is null or charge.key_id = ${keyId})
        group by 1, 2, 3, 4, 5
        limit ${groupsMax})
    select sums.*, price.model_id as model from sums left join prices price on price.id = sums.price_id`.execute(
    database,
  );
  return rows.map(toGroup);
}

type GroupRow = {
  bucket: number;
  model: string | null;
  key_id: string | null;
  unit: Unit;
  item_names: string[];
  calls: bigint;
  paid: string;
  quantities: (string | null)[];
};

function toGroup({ key_id: keyId, item_names: names, ...row }: GroupRow): ChargeGroup {
  invariant(names.length <= itemsMax, `a bill has ${names.length} items`);
  const items = names.map((name, index) => ({ name, quantity: BigInt(row.quantities[index] ?? 0) }));
  const { bucket, model, unit, calls } = row;
  return { bucket, model, keyId, unit, items, calls, paid: BigInt(row.paid) };
}
