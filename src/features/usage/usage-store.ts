import { type RawBuilder, sql } from "kysely";
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

/** A drama has an item for each of its four stages; a chat call three, or nine where it has tokens of every kind. */
const itemsMax = 9;
const itemPlaces = Array.from({ length: itemsMax }, (_, index) => index + 1);

/**
 * What was charged in each bucket of time, from the ledger's roll-ups and the catalog's prices. Where a bucket begins or ends
 * within a slot of theirs, and where they do not reach back to, the charges themselves are read: all as of one moment. Each
 * bucket is a range of the account's index, whatever the planner expects of an account with many charges, and is summed up by
 * itself: that takes half the time of telling for each row which bucket it falls into.
 */
export async function sumCharges(database: Database, asked: GroupedCharges): Promise<ChargeGroup[]> {
  const { accountId, boundaries, by, model, keyId, groupsMax } = asked;
  const moments = boundaries.map((moment) => moment.toISOString());
  const { rows } = await sql<GroupRow>`
    with buckets as materialized (
      select number, since, until, case when slots_from < slots_to then slots_from else until end as slots_from,
          case when slots_from < slots_to then slots_to else until end as slots_to
        from (
          select number, since, until, greatest(whole_from, rolled_up_from) as slots_from, whole_to as slots_to
            from wallets, unnest(${moments.slice(0, -1)}::timestamptz[], ${moments.slice(1)}::timestamptz[],
                ${boundaries.slice(0, -1).map(findNextSlot)}::timestamptz[], ${boundaries.slice(1).map(findSlot)}::timestamptz[])
              with ordinality as bucket (since, until, whole_from, whole_to, number)
            where account_id = ${accountId}) bucket),
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

/** Where there is no time between the two, nothing is looked for. */
function selectCharged(
  accountId: AccountId,
  { from, to }: { from: RawBuilder<unknown>; to: RawBuilder<unknown> },
): RawBuilder<unknown> {
  return sql`
              select price_id, key_id, unit, item_names, 1, paid, item_quantities from charges
                where account_id = ${accountId} and created_at >= ${from} and created_at < ${to} and ${from} < ${to}`;
}

/** Days and hours begin at half hours in every time zone of today but three, where they begin at a quarter to one. */
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
  invariant(names.length <= itemsMax, `a bill has ${names.length} items`);
  const items = names.map((name, index) => ({ name, quantity: BigInt(row.quantities[index] ?? 0) }));
  const { bucket, model, unit, calls } = row;
  return { bucket, model, keyId, unit, items, calls, paid: BigInt(row.paid) };
}
