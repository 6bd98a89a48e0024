import { type RawBuilder, sql } from "kysely";
import { billItemsMax, itemPlaces } from "../../lib/bill.ts";
import type { AccountId } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import { withoutCosts } from "../../lib/upstream-cost.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Unit } from "../ledger/index.ts";

export type ChargeGroup = {
  /** The time bucket's number, from 1. */
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
  /** The start of each bucket, and the end of the last. */
  boundaries: readonly Date[];
  by: { model: boolean; key: boolean };
  model: string | null;
  keyId: string | null;
  groupsMax: number;
};

/**
 * Sums charges per time bucket from the ledger's roll-ups and the catalog's prices, in one snapshot. Parts of a bucket that
 * cover no whole roll-up slot, and charges that are not rolled up yet, are summed from the charges. The lateral join scans one index range per bucket, whatever the
 * planner estimates; assigning each row to its bucket took twice as long.
 */
export async function sumCharges(database: Database, asked: GroupedCharges): Promise<ChargeGroup[]> {
  const { accountId, boundaries, by, model, keyId, groupsMax } = asked;
  const rolledUntil = sql`(select rolled_until from wallets where account_id = ${accountId})`;
  const moments = boundaries.map((moment) => moment.toISOString());
  const { rows } = await sql<GroupRow>`
    with buckets as materialized (
      select number, since, until, case when slots_from < slots_to then slots_from else until end as slots_from,
          case when slots_from < slots_to then slots_to else until end as slots_to
        from (
          select number, since, until, whole_from as slots_from, whole_to as slots_to
            from unnest(${moments.slice(0, -1)}::timestamptz[], ${moments.slice(1)}::timestamptz[],
                ${boundaries.slice(0, -1).map(findNextSlot)}::timestamptz[], ${boundaries.slice(1).map(findSlot)}::timestamptz[])
              with ordinality as bucket (since, until, whole_from, whole_to, number)) bucket),
    sums as (
      select bucket.number::integer as bucket, summed.*
        from buckets bucket cross join lateral (
          select ${by.model ? sql`price_id` : sql`null::text`} as price_id, ${by.key ? sql`key_id` : sql`null::text`} as key_id,
              unit, item_names, sum(calls)::bigint as calls, sum(paid)::text as paid,
              array[${sql.join(itemPlaces.map((place) => sql`sum(quantities[${sql.lit(place)}])`))}]::text[] as quantities
            from (
              select price_id, key_id, unit, item_names, calls, paid, quantities from usage_rollups
                where account_id = ${accountId} and slot_at >= bucket.slots_from and slot_at < bucket.slots_to
              union all
              ${selectCharged(accountId, { from: sql`greatest(bucket.slots_from, ${rolledUntil})`, to: sql`bucket.slots_to` })}
              union all
              ${selectCharged(accountId, { from: sql`bucket.since`, to: sql`bucket.slots_from` })}
              union all
              ${selectCharged(accountId, { from: sql`bucket.slots_to`, to: sql`bucket.until` })}) used
            where (${model}::text is null or price_id = any (array (select id from prices where model_id = ${model})))
              and (${keyId}::text is null or key_id = ${keyId})
            group by 1, 2, 3, 4) summed
        limit ${groupsMax})
    select sums.*, price.model_id as model from sums left join prices price on price.id = sums.price_id`.execute(
    database,
  );
  return rows.map(toGroup);
}

/** `from < to` lets the planner skip empty ranges. */
function selectCharged(
  accountId: AccountId,
  { from, to }: { from: RawBuilder<unknown>; to: RawBuilder<unknown> },
): RawBuilder<unknown> {
  return sql`
              select price_id, key_id, unit, item_names, 1, paid, item_quantities from charges
                where account_id = ${accountId} and created_at >= ${from} and created_at < ${to} and ${from} < ${to}`;
}

/** All but three of today's time zones have offsets of whole or half hours; those three end in :45. */
const slotMs = 30 * 60_000;

function findSlot(moment: Date): string {
  return new Date(Math.floor(moment.getTime() / slotMs) * slotMs).toISOString();
}

function findNextSlot(moment: Date): string {
  return new Date(Math.ceil(moment.getTime() / slotMs) * slotMs).toISOString();
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
  invariant(names.length <= billItemsMax, `a bill has ${names.length} items`);
  const items = withoutCosts(names.map((name, index) => ({ name, quantity: BigInt(row.quantities[index] ?? 0) })));
  const { bucket, model, unit, calls } = row;
  return { bucket, model, keyId, unit, items, calls, paid: BigInt(row.paid) };
}
