import { type RawBuilder, sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";

export const marginKeys = ["day", "model", "account", "route"] as const;
export type MarginKey = (typeof marginKeys)[number];

export type MarginLine = {
  /** `null` if the sums are not by day; the others likewise. */
  day: string | null;
  model: string | null;
  account: AccountId | null;
  /** `upstream-model@provider`; also `null` if the cost of these calls is unknown. */
  route: string | null;
  calls: bigint;
  /** Of these, how many have no known cost. */
  unknown: bigint;
  /** Charged to balances. Work paid from quotas earns nothing here. */
  revenue: Nano;
  cost: Nano;
};

type MarginRow = Pick<MarginLine, "day" | "model" | "account" | "route"> & {
  calls: string;
  known: string;
  revenue: string;
  cost: string;
};

type Asked = {
  from: Date;
  to: Date;
  by: ReadonlySet<MarginKey>;
  limit: number;
  /** Leaves out work that no balance pays: quotas, and costs without a charge. */
  isPaidOnly?: boolean;
};

/**
 * Sums revenue and cost from the ledger's roll-ups, the charges since, the catalog's prices, and the costs without a charge.
 * The revenue of a charge belongs to the first route of its costs. By day, then the lowest margin first.
 *
 * Charges have few different lists of items, so the costs are found once per list, not in every row: three times as fast.
 */
export async function sumMargins(
  database: Database,
  { from, to, by, limit, isPaidOnly = false }: Asked,
): Promise<MarginLine[]> {
  const pick = (key: MarginKey, column: RawBuilder<unknown>): RawBuilder<unknown> =>
    by.has(key) ? column : sql`null::text`;
  const { rows } = await sql<MarginRow>`
    with charged as not materialized (
      select slot_at as moment, account_id, price_id, unit, calls, paid, item_names, quantities from usage_rollups
        where slot_at >= ${from} and slot_at < ${to}
      union all
      select charge.created_at, wallet.account_id, price_id, charge.unit, 1, charge.paid, item_names, item_quantities
        from wallets wallet cross join lateral (
          select * from charges where account_id = wallet.account_id
            and created_at >= greatest(wallet.rolled_until, ${from}) and created_at < ${to} offset 0) charge
        where has_unrolled),
    routes as (
      select item_names, place, substr(name, 6) as route,
          row_number() over (partition by item_names order by place) as number
        from (select distinct item_names from charged) kind
          cross join lateral unnest(item_names) with ordinality as item (name, place)
        where name like 'cost:%'),
    parts as (
      select (moment at time zone 'UTC')::date::text as day, coalesce(price.model_id, price_id) as model,
          charged.account_id as account, route, case when number > 1 then 0 else calls end as calls,
          case when number = 1 then calls else 0 end as known,
          case when number > 1 or charged.unit <> 'money' then 0 else paid end as revenue,
          coalesce(quantities[place], 0) as cost
        from charged left join routes using (item_names) left join prices price on price.id = price_id
        where not ${isPaidOnly} or charged.unit = 'money'
      union all
      select (created_at at time zone 'UTC')::date::text, model_id, account_id, upstream_model || '@' || provider_id,
          calls, calls, 0, cost_nano
        from uncharged_costs where created_at >= ${from} and created_at < ${to} and not ${isPaidOnly})
    select ${pick("day", sql`day`)} as day, ${pick("model", sql`model`)} as model,
        ${pick("account", sql`account`)} as account, ${pick("route", sql`route`)} as route, sum(calls)::text as calls,
        sum(known)::text as known, sum(revenue)::text as revenue, sum(cost)::text as cost
      from parts group by 1, 2, 3, 4 order by 1, sum(revenue) - sum(cost), 2, 3, 4 limit ${limit}`.execute(database);
  return rows.map(({ calls, known, revenue, cost, ...keys }) => ({
    ...keys,
    calls: BigInt(calls),
    unknown: BigInt(calls) - BigInt(known),
    revenue: nano(BigInt(revenue)),
    cost: nano(BigInt(cost)),
  }));
}
