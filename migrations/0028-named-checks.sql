-- The checks of the money tables have their names again, so that an error says which of them broke; `migrate` validates
-- them afterwards, without keeping anybody from writing. One stays a trigger, because it alone costs a lone call several
-- per cent of the server's time (docs/decisions/0023-checks-of-the-money-tables.md).

alter table holds
  add constraint holds_id_valid check (id like 'hold\_%') not valid,
  add constraint holds_unit_valid check (unit in ('money', 'text', 'image', 'video')) not valid,
  add constraint holds_lines_complete check (cardinality(bucket_ids) = cardinality(bucket_amounts)) not valid,
  add constraint holds_amount_positive check (amount > 0) not valid,
  add constraint holds_settled_within check (settled between 0 and amount) not valid,
  add constraint holds_budget_has_key check (budget_starts_at is null or key_id is not null) not valid,
  add constraint holds_refusal_complete
    check ((state = 'refused') = (refusal is not null) and (refusal is null) = (missing is null)) not valid;

create or replace function check_hold() returns trigger language plpgsql as $$
declare
  is_valid boolean;
begin
  -- A condition is prepared when it is first needed in a transaction, so that each state has its own.
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
  if is_valid then return new; end if;
  raise check_violation using constraint = 'holds_state_valid', table = 'holds',
    message = 'no hold is like this', detail = to_json(new)::text;
end $$;

alter trigger holds_valid on holds rename to holds_state_valid;

alter table postings
  add constraint postings_amount_positive check (amount > 0) not valid,
  add constraint postings_two_sides check (debit <> credit) not valid;

create or replace function check_posting_kind() returns trigger language plpgsql as $$
begin
  if new.id like 'txn\_%'
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
  raise check_violation using constraint = 'postings_kind_valid', table = 'postings',
    message = 'no posting is of this kind', detail = to_json(new)::text;
end $$;

alter table charges
  add constraint charges_items_complete check (
    cardinality(item_names) = cardinality(item_quantities) and cardinality(item_names) = cardinality(item_rates_nano)
  ) not valid,
  add constraint charges_amounts_valid
    check (rates_per > 0 and minimum_nano >= 0 and quota_units >= 0 and paid >= 0 and lost >= 0) not valid;

drop trigger charges_valid on charges;
drop function check_charge();
