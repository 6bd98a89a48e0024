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

-- As before, and for bills of more than eight items, which are rare.
create or replace function roll_up_charges() returns trigger language plpgsql as $$
declare
  charges_count integer;
  items_max integer;
  summed record;
begin
  select count(*), max(cardinality(item_names)) into charges_count, items_max from new_charges;
  if items_max > 8 then
    for summed in select * from new_charges order by account_id, created_at, id loop
      insert into usage_rollups as kept (account_id, slot_at, key_id, price_id, unit, item_names, calls, paid, quantities)
        values (summed.account_id, date_bin('30 minutes', summed.created_at, 'epoch'), summed.key_id, summed.price_id, summed.unit,
          summed.item_names, 1, summed.paid, summed.item_quantities)
        on conflict (account_id, slot_at, key_id, price_id, unit, item_names) do update
          set calls = kept.calls + excluded.calls, paid = kept.paid + excluded.paid,
            quantities = add_many_quantities(kept.quantities, excluded.quantities);
    end loop;
  -- Fast path: a single charge needs no grouping.
  elsif charges_count = 1 then
    insert into usage_rollups as kept (account_id, slot_at, key_id, price_id, unit, item_names, calls, paid, quantities)
      select account_id, date_bin('30 minutes', created_at, 'epoch'), key_id, price_id, unit, item_names, 1, paid,
          item_quantities
        from new_charges
      on conflict (account_id, slot_at, key_id, price_id, unit, item_names) do update
        set calls = kept.calls + excluded.calls, paid = kept.paid + excluded.paid,
          quantities = add_quantities(kept.quantities, excluded.quantities);
  else
    insert into usage_rollups as kept (account_id, slot_at, key_id, price_id, unit, item_names, calls, paid, quantities)
      select account_id, date_bin('30 minutes', created_at, 'epoch'), key_id, price_id, unit, item_names, count(*), sum(paid),
          array[sum(item_quantities[1]), sum(item_quantities[2]), sum(item_quantities[3]), sum(item_quantities[4]),
            sum(item_quantities[5]), sum(item_quantities[6]), sum(item_quantities[7]), sum(item_quantities[8])]
        from new_charges
        group by 1, 2, 3, 4, 5, 6
      on conflict (account_id, slot_at, key_id, price_id, unit, item_names) do update
        set calls = kept.calls + excluded.calls, paid = kept.paid + excluded.paid,
          quantities = add_quantities(kept.quantities, excluded.quantities);
  end if;
  return null;
end $$;
