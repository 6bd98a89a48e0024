-- Prices as lists of items, multipliers of prices, and one function that recomputes every charge.

-- The items of a price that the columns cannot express, with its tiers and factors; null if they can. The columns always have the
-- contract's amounts: gateways of version 0.2 read and write only those.
alter table prices add column terms jsonb;

-- The factors of plans and accounts, as in the catalog file.
alter table catalog_versions add column multipliers jsonb not null default '[]';

-- What a charge costs: the sum of quantity × rate, rounded half up once, and at least the minimum.
create function charge_cost(quantities bigint[], rates bigint[], rates_per bigint, minimum bigint)
returns bigint language sql immutable parallel safe
  return (
    select greatest(div(2 * coalesce(sum(quantity::numeric * rate), 0) + rates_per, 2 * rates_per::numeric), minimum)::bigint
    from unnest(quantities, rates) as item (quantity, rate));

-- Adds sums of any number of items.
create function add_many_quantities(kept bigint[], added bigint[]) returns bigint[] language sql immutable parallel safe
  return (
    select array_agg(one + other order by place)
    from unnest(kept, added) with ordinality as pair (one, other, place));
