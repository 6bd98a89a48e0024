-- Usage is rolled up by half hours in place of quarters: half the rows of a busy account, and days and hours still begin at one
-- in every time zone but three, for which the charges at both ends of a day are read. Rows of quarters that are there lie within half hours,
-- and are summed with them.
create or replace function roll_up_charges() returns trigger language plpgsql as $$
begin
  -- Nearly always it is one, and then there is nothing to group.
  if (select count(*) from new_charges) = 1 then
    insert into usage_rollups as kept (account_id, slot_at, key_id, price_id, unit, item_names, calls, paid, quantities)
      select account_id, date_bin('30 minutes', created_at, 'epoch'), key_id, price_id, unit, item_names, 1, paid,
          item_quantities
        from new_charges charge
        where created_at >= (select rolled_up_from from wallets where wallets.account_id = charge.account_id)
      on conflict (account_id, slot_at, key_id, price_id, unit, item_names) do update
        set calls = kept.calls + excluded.calls, paid = kept.paid + excluded.paid,
          quantities = add_quantities(kept.quantities, excluded.quantities);
  else
    insert into usage_rollups as kept (account_id, slot_at, key_id, price_id, unit, item_names, calls, paid, quantities)
      select account_id, date_bin('30 minutes', created_at, 'epoch'), key_id, price_id, unit, item_names, count(*), sum(paid),
          array[sum(item_quantities[1]), sum(item_quantities[2]), sum(item_quantities[3]), sum(item_quantities[4]),
            sum(item_quantities[5]), sum(item_quantities[6]), sum(item_quantities[7]), sum(item_quantities[8])]
        from new_charges charge
        group by 1, 2, 3, 4, 5, 6
        having date_bin('30 minutes', created_at, 'epoch')
          >= (select rolled_up_from from wallets where wallets.account_id = charge.account_id)
      on conflict (account_id, slot_at, key_id, price_id, unit, item_names) do update
        set calls = kept.calls + excluded.calls, paid = kept.paid + excluded.paid,
          quantities = add_quantities(kept.quantities, excluded.quantities);
  end if;
  return null;
end $$;

create or replace function roll_up_older_charges(asked_account_id text, charges_max integer) returns boolean language plpgsql as $$
declare
  until timestamptz;
  since timestamptz;
begin
  select rolled_up_from into until from wallets where account_id = asked_account_id for update;
  if until is null or until = '-infinity' then return false; end if;
  select date_bin('30 minutes', created_at, 'epoch') into since from charges
    where account_id = asked_account_id and created_at < until
    order by created_at desc offset charges_max - 1 limit 1;
  since = coalesce(since, '-infinity');
  insert into usage_rollups (account_id, slot_at, key_id, price_id, unit, item_names, calls, paid, quantities)
    select account_id, date_bin('30 minutes', created_at, 'epoch'), key_id, price_id, unit, item_names, count(*), sum(paid),
        array[sum(item_quantities[1]), sum(item_quantities[2]), sum(item_quantities[3]), sum(item_quantities[4]),
          sum(item_quantities[5]), sum(item_quantities[6]), sum(item_quantities[7]), sum(item_quantities[8])]
      from charges where account_id = asked_account_id and created_at >= since and created_at < until
      group by 1, 2, 3, 4, 5, 6;
  update wallets set rolled_up_from = since where account_id = asked_account_id;
  return since > '-infinity';
end $$;

-- Where older charges are still being added, from a quarter on that is no half hour, what lies between is added now: rows of
-- half hours that are written from here on would reach behind the mark.
with marks as (
  select account_id, date_bin('30 minutes', rolled_up_from, 'epoch') as since, rolled_up_from as until from wallets
    where rolled_up_from > date_bin('30 minutes', rolled_up_from, 'epoch') for update),
added as (
  insert into usage_rollups (account_id, slot_at, key_id, price_id, unit, item_names, calls, paid, quantities)
    select account_id, since, key_id, price_id, unit, item_names, count(*), sum(paid),
        array[sum(item_quantities[1]), sum(item_quantities[2]), sum(item_quantities[3]), sum(item_quantities[4]),
          sum(item_quantities[5]), sum(item_quantities[6]), sum(item_quantities[7]), sum(item_quantities[8])]
      from marks join charges using (account_id) where created_at >= since and created_at < until
      group by 1, 2, 3, 4, 5, 6)
update wallets set rolled_up_from = since from marks where wallets.account_id = marks.account_id;
