-- Only the dropped trigger called the dropped functions, so all older code is compatible.
-- compatible from 0001
-- A trigger added every charge to the roll-ups that usage reads: a fifth to a quarter of PostgreSQL's time for a call. A job now
-- adds them up minute by minute, and usage reads later charges themselves (docs/decisions/0070-usage-rolled-up-later.md).

alter table wallets
  -- Roll-ups contain the charges before this moment, and no others.
  add column rolled_until timestamptz not null default '-infinity',
  -- Commits from now on use at least this time, so that no charge appears behind `rolled_until`.
  add column books_from timestamptz not null default '-infinity',
  add column has_unrolled boolean not null default false;

drop trigger charges_rolled_up on charges;
drop function roll_up_charges();

-- A higher version makes commits fail that wait for these locks in the previous `ledger_commit`: they are decided again.
update wallets
  set version = version + 1, rolled_until = last.moment, books_from = last.moment
  from (
    select account_id, greatest(now(),
        (select max(created_at) + interval '1 ms' from charges where charges.account_id = owner.account_id)) as moment
      from wallets as owner) last
  where last.account_id = wallets.account_id;

create function check_charge() returns trigger language plpgsql as $$
declare
  broken text;
begin
  broken = case
    when cardinality(new.item_names) <> cardinality(new.item_quantities)
      or cardinality(new.item_names) <> cardinality(new.item_rates_nano) then 'charges_items_complete'
    when least(new.minimum_nano, new.quota_units, new.paid, new.lost) < 0 or new.rates_per <= 0 then 'charges_amounts_valid'
  end;
  if broken is null then return new; end if;
  raise check_violation using constraint = broken, table = 'charges', message = 'invalid charge',
    detail = to_json(new)::text;
end $$;

create trigger charges_valid before insert on charges for each row execute function check_charge();

create or replace function ledger_commit(
    decided_at timestamptz,
    ended_claims ended_claim[],
    decided_wallets ledger_decided_wallet[],
    opened_buckets ledger_opened_bucket[],
    decided_buckets ledger_decided_bucket[],
    opened_holds ledger_opened_hold[],
    decided_holds ledger_decided_hold[],
    new_postings ledger_new_posting[],
    new_charges ledger_new_charge[],
    decided_spending ledger_decided_spending[],
    decided_reserves ledger_decided_reserve[]
  ) returns json language plpgsql
  set enable_seqscan = off set enable_nestloop = off set plan_cache_mode = force_generic_plan
as $$
declare
  row_total integer;
  ids text[];
  has_moved boolean;
  booked_from timestamptz;
  -- Fast path: almost every batch changes one of each, which needs no join.
  only_wallet ledger_decided_wallet;
  only_bucket ledger_decided_bucket;
  only_hold ledger_decided_hold;
  one_reserve ledger_decided_reserve;
begin
  if ended_claims is not null then perform end_claims(ended_claims); end if;
  if cardinality(decided_wallets) = 1 then
    only_wallet = decided_wallets[1];
    update wallets
      set version = version + 1, plain_writes = plain_writes + (only_wallet.shape is not null)::integer,
        changed_at = clock_timestamp(), has_unrolled = has_unrolled or new_charges is not null
      where account_id = only_wallet.account_id
        and (version = only_wallet.version or version - plain_writes = only_wallet.shape)
      returning version <> only_wallet.version + 1, books_from into has_moved, booked_from;
    get diagnostics row_total = row_count;
  else
    ids = array(select account_id from unnest(decided_wallets));
    select count(*), bool_or(locked.version <> decided.version), max(locked.books_from)
      into row_total, has_moved, booked_from
      from unnest(decided_wallets) as decided
      join (select account_id, version, plain_writes, books_from from wallets where account_id = any (ids) order by account_id for update)
        as locked using (account_id)
      where locked.version = decided.version or locked.version - locked.plain_writes = decided.shape;
    update wallets
      set version = wallets.version + 1, plain_writes = plain_writes + (decided.shape is not null)::integer,
        changed_at = clock_timestamp(), has_unrolled = has_unrolled or new_charges is not null
      from unnest(decided_wallets) as decided
      where wallets.account_id = decided.account_id and wallets.account_id = any (ids);
  end if;
  if row_total <> cardinality(decided_wallets) then
    raise exception 'a wallet has changed' using errcode = 'SL001';
  end if;
  -- Charges before this moment may be rolled up already.
  decided_at = greatest(decided_at, booked_from);
  if decided_reserves is not null then
    foreach one_reserve in array decided_reserves loop
      update wallets
        set reserved = one_reserve.amount, reserved_by = one_reserve.owner, reserve_revoked = one_reserve.is_revoked,
          reserved_until = coalesce(clock_timestamp() + one_reserve.lease_ms * interval '1 ms', reserved_until)
        where account_id = one_reserve.account_id;
    end loop;
  end if;
  if opened_buckets is not null then
    insert into buckets (id, account_id, kind, unit, expires_at, posted, held, entry_count, is_open, opened_at)
      select opened.*, decided_at from unnest(opened_buckets) as opened;
  end if;
  if cardinality(decided_buckets) = 1 then
    only_bucket = decided_buckets[1];
    update buckets
      set posted = posted + only_bucket.posted - only_bucket.posted_before,
        held = held + only_bucket.held - only_bucket.held_before,
        entry_count = entry_count + only_bucket.entry_count - only_bucket.entry_count_before,
        is_open = kind = 'cash' or posted + only_bucket.posted <> only_bucket.posted_before
          or held + only_bucket.held <> only_bucket.held_before,
        expires_at = only_bucket.expires_at
      where id = only_bucket.id;
    if not found then raise exception 'a bucket is missing'; end if;
  elsif decided_buckets is not null then
    ids = array(select id from unnest(decided_buckets));
    update buckets
      set posted = buckets.posted + decided.posted - decided.posted_before,
        held = buckets.held + decided.held - decided.held_before,
        entry_count = buckets.entry_count + decided.entry_count - decided.entry_count_before,
        is_open = kind = 'cash' or buckets.posted + decided.posted <> decided.posted_before
          or buckets.held + decided.held <> decided.held_before,
        expires_at = decided.expires_at
      from unnest(decided_buckets) as decided
      where buckets.id = decided.id and buckets.id = any (ids);
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
  -- `resolved_at is null` rather than `state = 'open'`, which would use the index of open holds, full of dead entries.
  if cardinality(decided_holds) = 1 then
    only_hold = decided_holds[1];
    update holds
      set amount = only_hold.amount, bucket_ids = only_hold.bucket_ids, bucket_amounts = only_hold.bucket_amounts,
        state = only_hold.state, settled = only_hold.settled,
        settlement_fingerprint = only_hold.settlement_fingerprint, expires_at = only_hold.expires_at,
        resolved_at = case when only_hold.state <> 'open' then decided_at end
      where id = only_hold.id and resolved_at is null
        and amount = only_hold.amount_before and expires_at = only_hold.expires_at_before;
    if not found then raise exception 'a hold has changed' using errcode = 'SL001'; end if;
  elsif decided_holds is not null then
    ids = array(select id from unnest(decided_holds));
    update holds
      set amount = decided.amount, bucket_ids = decided.bucket_ids, bucket_amounts = decided.bucket_amounts,
        state = decided.state, settled = decided.settled, settlement_fingerprint = decided.settlement_fingerprint,
        expires_at = decided.expires_at, resolved_at = case when decided.state <> 'open' then decided_at end
      from unnest(decided_holds) as decided
      where holds.id = decided.id and holds.id = any (ids) and holds.resolved_at is null
        and holds.amount = decided.amount_before and holds.expires_at = decided.expires_at_before;
    get diagnostics row_total = row_count;
    if row_total <> cardinality(ids) then raise exception 'a hold has changed' using errcode = 'SL001'; end if;
  end if;
  if decided_spending is not null then
    update key_spending
      set held = key_spending.held + decided.held - decided.held_before,
        spent = key_spending.spent + decided.spent - decided.spent_before
      from unnest(decided_spending) as decided
      where key_spending.key_id = decided.key_id and key_spending.starts_at = decided.starts_at;
    get diagnostics row_total = row_count;
    -- The wallet's lock keeps other transactions from opening the period.
    if row_total < cardinality(decided_spending) then
      insert into key_spending (key_id, starts_at, account_id, held, spent)
        select key_id, starts_at, account_id, held, spent from unnest(decided_spending)
        on conflict (key_id, starts_at) do nothing;
    end if;
  end if;
  if new_charges is not null then
    insert into charges (id, hold_id, account_id, key_id, unit, price_id, item_names, item_quantities, item_rates_nano,
        rates_per, minimum_nano, quota_units, paid, lost, created_at)
      select charged.*, decided_at from unnest(new_charges) as charged;
  end if;
  if not has_moved then
    if new_postings is not null then
      -- unnest returns an array in its order, so the identity column numbers the postings in that order.
      insert into postings (id, leg, account_id, kind, unit, debit, credit, amount, bucket_id, entry_number,
          balance_after, refund_of, fingerprint, cause_kind, cause_id, created_at)
        select posted.*, decided_at from unnest(new_postings) as posted;
    end if;
    return null;
  end if;
  return ledger_commit_rebased(decided_at, decided_buckets, new_postings, decided_spending);
end $$;;

-- Adds the accounts' charges of a time span, each account's from its own moment, to their roll-ups.
-- Bills of more than eight items are rare.
create function roll_up_usage(account_ids text[], since_moments timestamptz[], until_moment timestamptz)
  returns void language sql
  set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
  with due_charges as materialized (
    select charge.account_id, date_bin('30 minutes', created_at, 'epoch') as slot_at, key_id, price_id, unit, item_names, paid,
        item_quantities
      from unnest(account_ids, since_moments) as due (account_id, since)
        cross join lateral (
          select * from charges
            where charges.account_id = due.account_id and created_at >= due.since and created_at < until_moment
            offset 0) charge)
  insert into usage_rollups as kept (account_id, slot_at, key_id, price_id, unit, item_names, calls, paid, quantities)
    select account_id, slot_at, key_id, price_id, unit, item_names, count(*), sum(paid),
        array[sum(item_quantities[1]), sum(item_quantities[2]), sum(item_quantities[3]), sum(item_quantities[4]),
          sum(item_quantities[5]), sum(item_quantities[6]), sum(item_quantities[7]), sum(item_quantities[8])]
      from due_charges where cardinality(item_names) <= 8
      group by 1, 2, 3, 4, 5, 6
    union all
    select account_id, slot_at, key_id, price_id, unit, item_names, max(calls), max(paid), array_agg(quantity order by place)
      from (
        select account_id, slot_at, key_id, price_id, unit, item_names, place, count(*) as calls, sum(paid) as paid,
            sum(quantity) as quantity
          from due_charges cross join unnest(item_quantities) with ordinality as item (quantity, place)
          where cardinality(item_names) > 8
          group by 1, 2, 3, 4, 5, 6, 7) items
      group by 1, 2, 3, 4, 5, 6
    on conflict (account_id, slot_at, key_id, price_id, unit, item_names) do update
      set calls = kept.calls + excluded.calls, paid = kept.paid + excluded.paid,
        quantities = add_many_quantities(kept.quantities, excluded.quantities);
$$;

drop function add_quantities(bigint[], bigint[]);
