-- PostgreSQL parses a table's checks again for every statement: those of a lone call's rows took 70 µs, a sixth of its commit.
-- Triggers cost a tenth of that, and raise violations with the same names (docs/decisions/0065-money-rules-in-triggers.md).

alter table holds
  drop constraint holds_id_valid,
  drop constraint holds_unit_valid,
  drop constraint holds_lines_complete,
  drop constraint holds_amount_positive,
  drop constraint holds_settled_within,
  drop constraint holds_budget_has_key,
  drop constraint holds_refusal_complete;

create or replace function check_hold() returns trigger language plpgsql as $$
declare
  is_valid boolean;
  broken text;
begin
  -- plpgsql prepares a condition when it first runs, so each state only pays for its own.
  if new.state = 'open' then
    is_valid = new.resolved_at is null and new.settled = 0 and cardinality(new.bucket_ids) > 0;
  elsif new.state = 'settled' then
    is_valid = new.resolved_at is not null and new.settlement_fingerprint is not null;
  elsif new.state in ('released', 'expired') then
    is_valid = new.resolved_at is not null and new.settled = 0;
  elsif new.state = 'refused' then
    is_valid = new.resolved_at is not null and new.settled = 0 and cardinality(new.bucket_ids) = 0;
  else
    is_valid = false;
  end if;
  broken = case
    when not is_valid then 'holds_state_valid'
    when new.id not like 'hold\_%' then 'holds_id_valid'
    when new.unit not in ('money', 'text', 'image', 'video') then 'holds_unit_valid'
    when cardinality(new.bucket_ids) <> cardinality(new.bucket_amounts) then 'holds_lines_complete'
    when new.amount <= 0 then 'holds_amount_positive'
    when new.settled not between 0 and new.amount then 'holds_settled_within'
    when new.budget_starts_at is not null and new.key_id is null then 'holds_budget_has_key'
    when (new.state = 'refused') <> (new.refusal is not null) or (new.refusal is null) <> (new.missing is null)
      then 'holds_refusal_complete'
  end;
  if broken is null then return new; end if;
  raise check_violation using constraint = broken, table = 'holds', message = 'invalid hold',
    detail = to_json(new)::text;
end $$;

alter table postings
  drop constraint postings_amount_positive,
  drop constraint postings_two_sides;

create or replace function check_posting_kind() returns trigger language plpgsql as $$
declare
  broken text;
begin
  if new.amount > 0 and new.debit <> new.credit and new.id like 'txn\_%'
    and (case
      when new.kind = 'loss' then new.bucket_id is null
      else num_nulls(new.bucket_id, new.entry_number, new.balance_after) = 0 and new.bucket_id in (new.debit, new.credit)
        and new.balance_after >= 0
    end)
    and (case new.kind
      when 'charge' then new.debit = new.bucket_id and new.credit = 'revenue'
      when 'loss' then new.debit = 'loss' and new.credit = 'revenue'
      when 'refund' then new.debit = 'revenue' and new.credit = new.bucket_id and new.refund_of is not null
      when 'top_up' then new.debit like 'funding:%' and new.credit = new.bucket_id
      when 'grant' then new.debit like 'funding:%' and new.credit = new.bucket_id
      when 'adjustment' then 'adjustments' in (new.debit, new.credit)
      when 'reversal' then (new.debit = new.bucket_id and new.credit like 'funding:%')
        or (new.credit = new.bucket_id and new.debit like 'funding:%')
      when 'expiry' then new.debit = new.bucket_id and new.credit = 'expired'
      else false
    end)
  then return new; end if;
  broken = case
    when new.amount <= 0 then 'postings_amount_positive'
    when new.debit = new.credit then 'postings_two_sides'
    else 'postings_kind_valid'
  end;
  raise check_violation using constraint = broken, table = 'postings', message = 'invalid posting',
    detail = to_json(new)::text;
end $$;

alter table charges
  drop constraint charges_items_complete,
  drop constraint charges_amounts_valid;

-- As before, with these rules, and for bills of more than eight items, which are rare.
create or replace function roll_up_charges() returns trigger language plpgsql as $$
declare
  charges_count integer;
  items_max integer;
  broken text;
  summed record;
begin
  select count(*), max(cardinality(item_names)), min(case
      when cardinality(item_names) <> cardinality(item_quantities) or cardinality(item_names) <> cardinality(item_rates_nano)
        then 'charges_items_complete'
      when least(minimum_nano, quota_units, paid, lost) < 0 or rates_per <= 0 then 'charges_amounts_valid'
    end) into charges_count, items_max, broken
    from new_charges;
  if broken is not null then
    raise check_violation using constraint = broken, table = 'charges', message = 'invalid charge';
  end if;
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
