-- What was used in each quarter of an hour, so that a month of a large account is read from some thousand rows, not from a
-- million charges. Days and hours begin at quarters of an hour in every time zone of today.
create table usage_rollups (
  account_id text not null,
  slot_at timestamptz not null,
  key_id text,
  price_id text not null,
  unit text not null,
  item_names text[] not null,
  calls bigint not null,
  paid bigint not null,
  -- What the items sum to, in the order of their names; places without a name are null.
  quantities bigint[] not null,
  constraint usage_rollups_unique unique nulls not distinct (account_id, slot_at, key_id, price_id, unit, item_names)
-- Only sums ever change: with room beside it, a row is updated where it is, and the index stays as it is.
) with (fillfactor = 70);

-- From when on charges are in the roll-ups, always a quarter of an hour. What is older is added by a job, backwards in time,
-- and read from the charges until then. Accounts that are there already begin with nothing, new ones with everything: the
-- first default is what old rows have without being written. It is changed under the wallet's lock only, which whoever
-- writes charges has.
alter table wallets add column rolled_up_from timestamptz not null default 'infinity';
alter table wallets alter column rolled_up_from set default '-infinity';

-- Eight places: a drama has an item for each of its four stages, a chat call three.
create function add_quantities(kept bigint[], added bigint[]) returns bigint[] language sql immutable parallel safe
  return array[kept[1] + added[1], kept[2] + added[2], kept[3] + added[3], kept[4] + added[4],
    kept[5] + added[5], kept[6] + added[6], kept[7] + added[7], kept[8] + added[8]];

-- A trigger, so that gateways of the version before keep the roll-ups as true as those of this one. It never waits: all rows
-- of an account are written under its wallet's lock. A wallet is looked up by a subquery, because callers turn the join off that
-- would be good for it.
create function roll_up_charges() returns trigger language plpgsql as $$
begin
  -- Nearly always it is one, and then there is nothing to group.
  if (select count(*) from new_charges) = 1 then
    insert into usage_rollups as kept (account_id, slot_at, key_id, price_id, unit, item_names, calls, paid, quantities)
      select account_id, date_bin('15 minutes', created_at, 'epoch'), key_id, price_id, unit, item_names, 1, paid,
          item_quantities
        from new_charges charge
        where created_at >= (select rolled_up_from from wallets where wallets.account_id = charge.account_id)
      on conflict (account_id, slot_at, key_id, price_id, unit, item_names) do update
        set calls = kept.calls + excluded.calls, paid = kept.paid + excluded.paid,
          quantities = add_quantities(kept.quantities, excluded.quantities);
  else
    insert into usage_rollups as kept (account_id, slot_at, key_id, price_id, unit, item_names, calls, paid, quantities)
      select account_id, date_bin('15 minutes', created_at, 'epoch'), key_id, price_id, unit, item_names, count(*), sum(paid),
          array[sum(item_quantities[1]), sum(item_quantities[2]), sum(item_quantities[3]), sum(item_quantities[4]),
            sum(item_quantities[5]), sum(item_quantities[6]), sum(item_quantities[7]), sum(item_quantities[8])]
        from new_charges charge
        group by 1, 2, 3, 4, 5, 6
        having date_bin('15 minutes', created_at, 'epoch')
          >= (select rolled_up_from from wallets where wallets.account_id = charge.account_id)
      on conflict (account_id, slot_at, key_id, price_id, unit, item_names) do update
        set calls = kept.calls + excluded.calls, paid = kept.paid + excluded.paid,
          quantities = add_quantities(kept.quantities, excluded.quantities);
  end if;
  return null;
end $$;

create trigger charges_rolled_up after insert on charges referencing new table as new_charges
  for each statement execute function roll_up_charges();

-- Adds some of an account's older charges to its roll-ups: about so many, whole quarters of an hour. Answers whether there
-- may be more. Locks the wallet first, as everybody does.
create function roll_up_older_charges(asked_account_id text, charges_max integer) returns boolean language plpgsql as $$
declare
  until timestamptz;
  since timestamptz;
begin
  select rolled_up_from into until from wallets where account_id = asked_account_id for update;
  if until is null or until = '-infinity' then return false; end if;
  select date_bin('15 minutes', created_at, 'epoch') into since from charges
    where account_id = asked_account_id and created_at < until
    order by created_at desc offset charges_max - 1 limit 1;
  since = coalesce(since, '-infinity');
  insert into usage_rollups (account_id, slot_at, key_id, price_id, unit, item_names, calls, paid, quantities)
    select account_id, date_bin('15 minutes', created_at, 'epoch'), key_id, price_id, unit, item_names, count(*), sum(paid),
        array[sum(item_quantities[1]), sum(item_quantities[2]), sum(item_quantities[3]), sum(item_quantities[4]),
          sum(item_quantities[5]), sum(item_quantities[6]), sum(item_quantities[7]), sum(item_quantities[8])]
      from charges where account_id = asked_account_id and created_at >= since and created_at < until
      group by 1, 2, 3, 4, 5, 6;
  update wallets set rolled_up_from = since where account_id = asked_account_id;
  return since > '-infinity';
end $$;
