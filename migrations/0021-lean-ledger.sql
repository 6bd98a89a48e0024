-- A hold or settlement that comes alone spent most of its time on things that are done anew for every statement: reading
-- JSON by the columns of its table, and reading the checks of the table from their text. Both go: rows come as arrays of
-- the types below, and the longest checks are made by triggers, which are read once for each connection.

alter table holds
  drop constraint holds_id_valid,
  drop constraint holds_unit_valid,
  drop constraint holds_lines_complete,
  drop constraint holds_amount_positive,
  drop constraint holds_settled_within,
  drop constraint holds_budget_has_key,
  drop constraint holds_state_valid,
  drop constraint holds_refusal_complete;

-- A condition is prepared when it is first needed in a transaction, so that each state has its own.
create function check_hold() returns trigger language plpgsql as $$
declare
  is_valid boolean = new.id like 'hold\_%'
    and new.unit in ('money', 'text', 'image', 'video')
    and new.amount > 0
    and new.settled between 0 and new.amount
    and cardinality(new.bucket_ids) = cardinality(new.bucket_amounts)
    and (new.budget_starts_at is null or new.key_id is not null);
begin
  if new.state = 'open' then
    is_valid = is_valid and new.resolved_at is null and new.settled = 0 and cardinality(new.bucket_ids) > 0
      and new.refusal is null and new.missing is null;
  elsif new.state = 'settled' then
    is_valid = is_valid and new.resolved_at is not null and new.settlement_fingerprint is not null
      and new.refusal is null and new.missing is null;
  elsif new.state in ('released', 'expired') then
    is_valid = is_valid and new.resolved_at is not null and new.settled = 0
      and new.refusal is null and new.missing is null;
  elsif new.state = 'refused' then
    is_valid = is_valid and new.resolved_at is not null and new.settled = 0 and cardinality(new.bucket_ids) = 0
      and new.refusal is not null and new.missing is not null;
  else
    is_valid = false;
  end if;
  if is_valid then return new; end if;
  raise check_violation using constraint = 'holds_valid', table = 'holds',
    message = 'no hold is like this', detail = to_json(new)::text;
end $$;

create trigger holds_valid before insert or update on holds for each row execute function check_hold();

alter table postings
  drop constraint postings_amount_positive,
  drop constraint postings_two_sides;

create or replace function check_posting_kind() returns trigger language plpgsql as $$
begin
  if new.id like 'txn\_%'
    and new.amount > 0
    and new.debit <> new.credit
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
      when 'expiry' then new.debit = new.bucket_id and new.credit = 'expired'
      else false
    end)
  then return new; end if;
  raise check_violation using constraint = 'postings_kind_valid', table = 'postings',
    message = 'no posting is of this kind', detail = to_json(new)::text;
end $$;

alter table charges
  drop constraint charges_items_complete,
  drop constraint charges_amounts_valid;

create function check_charge() returns trigger language plpgsql as $$
begin
  if cardinality(new.item_names) = cardinality(new.item_quantities)
    and cardinality(new.item_names) = cardinality(new.item_rates_nano)
    and new.rates_per > 0 and new.minimum_nano >= 0 and new.quota_units >= 0 and new.paid >= 0 and new.lost >= 0
  then return new; end if;
  raise check_violation using constraint = 'charges_valid', table = 'charges',
    message = 'no charge is like this', detail = to_json(new)::text;
end $$;

create trigger charges_valid before insert on charges for each row execute function check_charge();

-- What `ledger_write` takes of each table: the columns that a batch decides. What happened in it happened at one moment.
create type ledger_changed_wallet as (account_id text, version bigint);
create type ledger_opened_bucket as (
  id text,
  account_id text,
  kind text,
  unit text,
  expires_at timestamptz,
  posted bigint,
  held bigint,
  entry_count bigint,
  is_open boolean
);
create type ledger_changed_bucket as (
  id text,
  posted bigint,
  held bigint,
  entry_count bigint,
  is_open boolean,
  expires_at timestamptz
);
create type ledger_opened_hold as (
  id text,
  account_id text,
  unit text,
  amount bigint,
  bucket_ids text[],
  bucket_amounts bigint[],
  state text,
  settled bigint,
  refusal text,
  missing bigint,
  fingerprint text,
  settlement_fingerprint text,
  key_id text,
  budget_starts_at timestamptz,
  cause_kind text,
  cause_id text,
  expires_at timestamptz
);
create type ledger_changed_hold as (
  id text,
  amount bigint,
  bucket_ids text[],
  bucket_amounts bigint[],
  state text,
  settled bigint,
  settlement_fingerprint text,
  expires_at timestamptz
);
create type ledger_new_posting as (
  id text,
  leg smallint,
  account_id text,
  kind text,
  unit text,
  debit text,
  credit text,
  amount bigint,
  bucket_id text,
  entry_number bigint,
  balance_after bigint,
  refund_of text,
  fingerprint text,
  cause_kind text,
  cause_id text
);
create type ledger_new_charge as (
  id text,
  hold_id text,
  account_id text,
  key_id text,
  unit text,
  price_id text,
  item_names text[],
  item_quantities bigint[],
  item_rates_nano bigint[],
  rates_per bigint,
  minimum_nano bigint,
  quota_units bigint,
  paid bigint,
  lost bigint
);
create type ledger_changed_spending as (
  key_id text,
  starts_at timestamptz,
  account_id text,
  held bigint,
  spent bigint
);

-- Writes what a batch was decided to change, if the wallets are still in the states that it was decided on, and says
-- whether they were, as its namesake of before does, which stays for processes of the version before this one. Locks
-- wallets in the order of their ids, before anything else; everything else of an account is only ever touched under that
-- lock. What there is none of is null.
create function ledger_write(
  decided_at timestamptz,
  changed_wallets ledger_changed_wallet[],
  opened_buckets ledger_opened_bucket[],
  changed_buckets ledger_changed_bucket[],
  opened_holds ledger_opened_hold[],
  changed_holds ledger_changed_hold[],
  new_postings ledger_new_posting[],
  new_charges ledger_new_charge[],
  changed_spending ledger_changed_spending[]
) returns boolean language plpgsql
-- Each statement is planned once, for tables of any size: it names the ids of the rows that it touches, and with no
-- reading from end to end allowed, the key's index is the only way to them. A join alone would be planned by the number
-- of rows at that moment, and could read the whole of a table, or of the index of open holds, for ever after. How long an
-- array will be is not known then, and is taken for short: not every row may be compared with every other.
set enable_seqscan = off
set enable_nestloop = off
set plan_cache_mode = force_generic_plan as $$
declare
  row_total integer;
  ids text[];
  -- Nearly always it is one, and then there is nothing to join.
  only_wallet ledger_changed_wallet;
  only_bucket ledger_changed_bucket;
  only_hold ledger_changed_hold;
begin
  if cardinality(changed_wallets) = 1 then
    only_wallet = changed_wallets[1];
    update wallets set version = wallets.version + 1, changed_at = clock_timestamp()
      where account_id = only_wallet.account_id and version = only_wallet.version;
    if not found then return false; end if;
  else
    ids = array(select account_id from unnest(changed_wallets));
    select count(*) into row_total
      from unnest(changed_wallets) as decided
      join (select account_id, version from wallets where account_id = any (ids) order by account_id for update)
        as locked using (account_id, version);
    if row_total <> cardinality(ids) then return false; end if;
    update wallets set version = version + 1, changed_at = clock_timestamp() where account_id = any (ids);
  end if;
  if opened_buckets is not null then
    insert into buckets (id, account_id, kind, unit, expires_at, posted, held, entry_count, is_open, opened_at)
      select opened.*, decided_at from unnest(opened_buckets) as opened;
  end if;
  if cardinality(changed_buckets) = 1 then
    only_bucket = changed_buckets[1];
    update buckets
      set posted = only_bucket.posted, held = only_bucket.held, entry_count = only_bucket.entry_count,
        is_open = only_bucket.is_open, expires_at = only_bucket.expires_at
      where id = only_bucket.id;
    if not found then raise exception 'a bucket is missing'; end if;
  elsif changed_buckets is not null then
    ids = array(select id from unnest(changed_buckets));
    update buckets
      set posted = changed.posted, held = changed.held, entry_count = changed.entry_count,
        is_open = changed.is_open, expires_at = changed.expires_at
      from unnest(changed_buckets) as changed
      where buckets.id = changed.id and buckets.id = any (ids);
    get diagnostics row_total = row_count;
    if row_total <> cardinality(ids) then raise exception 'a bucket is missing'; end if;
  end if;
  if opened_holds is not null then
    insert into holds (id, account_id, unit, amount, bucket_ids, bucket_amounts, state, settled, refusal, missing,
        fingerprint, settlement_fingerprint, key_id, budget_starts_at, cause_kind, cause_id, expires_at, opened_at,
        resolved_at)
      select opened.*, decided_at, case when opened.state <> 'open' then decided_at end
      from unnest(opened_holds) as opened;
  end if;
  -- Only open holds are not resolved; their state would invite the index of open holds, full of those that were.
  if cardinality(changed_holds) = 1 then
    only_hold = changed_holds[1];
    update holds
      set amount = only_hold.amount, bucket_ids = only_hold.bucket_ids, bucket_amounts = only_hold.bucket_amounts,
        state = only_hold.state, settled = only_hold.settled,
        settlement_fingerprint = only_hold.settlement_fingerprint, expires_at = only_hold.expires_at,
        resolved_at = case when only_hold.state <> 'open' then decided_at end
      where id = only_hold.id and resolved_at is null;
    if not found then raise exception 'a hold is not open'; end if;
  elsif changed_holds is not null then
    ids = array(select id from unnest(changed_holds));
    update holds
      set amount = changed.amount, bucket_ids = changed.bucket_ids, bucket_amounts = changed.bucket_amounts,
        state = changed.state, settled = changed.settled, settlement_fingerprint = changed.settlement_fingerprint,
        expires_at = changed.expires_at, resolved_at = case when changed.state <> 'open' then decided_at end
      from unnest(changed_holds) as changed
      where holds.id = changed.id and holds.id = any (ids) and holds.resolved_at is null;
    get diagnostics row_total = row_count;
    if row_total <> cardinality(ids) then raise exception 'a hold is not open'; end if;
  end if;
  if new_postings is not null then
    -- Numbered in their order: that of an array is the order in which it is read.
    insert into postings (id, leg, account_id, kind, unit, debit, credit, amount, bucket_id, entry_number, balance_after,
        refund_of, fingerprint, cause_kind, cause_id, created_at)
      select posted.*, decided_at from unnest(new_postings) as posted;
  end if;
  if new_charges is not null then
    insert into charges (id, hold_id, account_id, key_id, unit, price_id, item_names, item_quantities, item_rates_nano,
        rates_per, minimum_nano, quota_units, paid, lost, created_at)
      select charged.*, decided_at from unnest(new_charges) as charged;
  end if;
  if changed_spending is not null then
    insert into key_spending (key_id, starts_at, account_id, held, spent)
      select changed.* from unnest(changed_spending) as changed
      on conflict (key_id, starts_at) do update set held = excluded.held, spent = excluded.spent;
  end if;
  return true;
end $$;
