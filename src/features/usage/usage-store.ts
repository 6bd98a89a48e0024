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
 * What was charged in each bucket of time, from the ledger's roll-ups and the catalog's prices. Where the time begins or
 * ends within a slot of theirs, and where they do not reach back to, the charges themselves are read: all as of one
 * moment. Each bucket is a range of the account's index, whatever the planner expects of an account with many charges, and
 * is summed up by itself: that takes half the time of telling for each row which bucket it falls into.
 */
export async function sumCharges(database: Database, asked: GroupedCharges): Promise<ChargeGroup[]> {
  const { accountId, boundaries, by, model, keyId, groupsMax } = asked;
  const moments = boundaries.map((moment) => moment.toISOString());
  const slots = findWholeSlots(boundaries);
  const { rows } = await sql<GroupRow>`
    with covered as materialized (
      select case when since < until then since else ${moments.at(-1)}::timestamptz end as since,
          case when since < until then until else ${moments.at(-1)}::timestamptz end as until
        from (select greatest(${slots.from}::timestamptz, rolled_up_from) as since, ${slots.to}::timestamptz as until
          from wallets where account_id = ${accountId}) whole),
    buckets as materialized (
      select number, bucket.since, bucket.until, covered.since as covered_since, covered.until as covered_until
        from covered, unnest(${moments.slice(0, -1)}::timestamptz[], ${moments.slice(1)}::timestamptz[])
          with ordinality as bucket (since, until, number)),
    sums as (
      select bucket.number::integer as bucket, summed.*
        from buckets bucket cross join lateral (
          select ${by.model ? sql`price_id` : sql`null::text`} as price_id, ${by.key ? sql`key_id` : sql`null::text`} as key_id,
              unit, item_names, sum(calls)::bigint as calls, sum(paid)::text as paid,
              array[${sql.join(itemPlaces.map((place) => sql`sum(quantities[${sql.lit(place)}])`))}]::text[] as quantities
            from (
              select price_id, key_id, unit, item_names, calls, paid, quantities from usage_rollups
                where account_id = ${accountId} and slot_at >= greatest(bucket.since, covered_since)
                  and slot_at < least(bucket.until, covered_until)
              union all
              ${selectCharged(accountId, { from: sql`bucket.since`, to: sql`least(bucket.until, covered_since)` })}
              union all
              ${selectCharged(accountId, { from: sql`greatest(bucket.since, covered_until)`, to: sql`bucket.until` })}) used
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

const slotMs = 15 * 60_000;

/** The slots that lie within the time as a whole; none where a bucket ends within one, which no time zone of today does. */
function findWholeSlots(boundaries: readonly Date[]): { from: string; to: string } {
  const times = boundaries.map((moment) => moment.getTime());
  const [from = 0, to = 0] = [times.at(0), times.at(-1)];
  const isCutBySlots = times.slice(1, -1).every((time) => time % slotMs === 0);
  const wholeFrom = new Date(Math.ceil(from / slotMs) * slotMs).toISOString();
  return { from: wholeFrom, to: isCutBySlots ? new Date(Math.floor(to / slotMs) * slotMs).toISOString() : wholeFrom };
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
