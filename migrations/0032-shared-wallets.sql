-- Several gateways work for one account at the same time. What one of them decided used to be written only if nobody else
-- had touched the wallet since, so that two of them kept each other from it. Most of what is decided is as right after
-- another one's charge as before it, as long as the money is there: it is written as the difference that it makes.
--
-- A wallet's version counts all writes, and `plain_writes` those of them that leave everything but amounts as it was.
-- What is left between the two, the wallet's shape, changes with everything else: buckets that are opened, an account
-- that is frozen, a write of a gateway of the version before.
alter table wallets add column plain_writes bigint not null default 0;

-- The claim of an Idempotency-Key for a request.
create type new_claim as (
  account_id text,
  key text,
  fingerprint bytea,
  request_id text,
  hold_id text
);

-- The end of the claim of an Idempotency-Key, which becomes durable with the charge that its answer tells of. Without a
-- status, the key is free again.
create type ended_claim as (
  account_id text,
  key text,
  request_id text,
  status smallint,
  content_type text,
  body bytea,
  summary text
);

-- `shape` where what was decided holds for every version of that shape.
create type ledger_decided_wallet as (
  account_id text,
  version bigint,
  shape bigint
);

-- As it should be afterwards, as it was believed to be before, and the least that was believed to be available between.
create type ledger_decided_bucket as (
  id text,
  posted bigint,
  held bigint,
  entry_count bigint,
  expires_at timestamptz,
  posted_before bigint,
  held_before bigint,
  entry_count_before bigint,
  least_available bigint
);

-- As it should be afterwards, and as it was believed to be before.
create type ledger_decided_hold as (
  id text,
  amount bigint,
  bucket_ids text[],
  bucket_amounts bigint[],
  state text,
  settled bigint,
  settlement_fingerprint text,
  expires_at timestamptz,
  amount_before bigint,
  expires_at_before timestamptz
);

-- As it should be afterwards, as it was believed to be before, the most that was counted between, and the budget.
create type ledger_decided_spending as (
  key_id text,
  starts_at timestamptz,
  account_id text,
  held bigint,
  spent bigint,
  held_before bigint,
  spent_before bigint,
  most_counted bigint,
  budget bigint
);

-- A claim is changed once, when it ends: there is room for that beside it, so that no index has to change.
alter table idempotency_keys set (fillfactor = 50);

-- Claims those keys that are free, in their order, and answers the requests that have theirs now.
create function claim_keys(
  new_claims new_claim[],
  claimed_at timestamptz,
  leased_until timestamptz,
  known_until timestamptz
) returns setof text language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  return query insert into idempotency_keys
      (account_id, key, fingerprint, request_id, hold_id, state, lease_until, created_at, expires_at)
    select claimed.account_id, claimed.key, claimed.fingerprint, claimed.request_id, claimed.hold_id, 'running',
      leased_until, claimed_at, known_until
    from unnest(new_claims) as claimed
    on conflict (account_id, key) do nothing
    returning idempotency_keys.request_id;
end $$;

-- Ends claims, in the order of their keys: those come before wallets everywhere. An answer is kept by the request that has
-- the key, also a second time; a key that another request has by now is not freed.
create function end_claims(ended_claims ended_claim[]) returns void language plpgsql
  -- Each row is looked up by its key, however many there are, and whatever the caller has set.
  set enable_nestloop = on set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
  set plan_cache_mode = force_generic_plan as $$
declare
  kept_total integer;
begin
  if cardinality(ended_claims) > 1 then
    perform from idempotency_keys
      where (account_id, key) in (select account_id, key from unnest(ended_claims))
      order by account_id collate "C", key collate "C" for update;
  end if;
  update idempotency_keys
    set state = 'finished', status = ended.status, content_type = ended.content_type, body = ended.body,
      summary = ended.summary
    from unnest(ended_claims) as ended
    where idempotency_keys.account_id = ended.account_id and idempotency_keys.key = ended.key
      and idempotency_keys.request_id = ended.request_id and ended.status is not null;
  get diagnostics kept_total = row_count;
  if kept_total <> (select count(status) from unnest(ended_claims)) then
    raise exception 'another request has the key' using errcode = 'SL002';
  end if;
  if kept_total < cardinality(ended_claims) then
    delete from idempotency_keys
      using unnest(ended_claims) as ended
      where idempotency_keys.account_id = ended.account_id and idempotency_keys.key = ended.key
        and idempotency_keys.request_id = ended.request_id and state = 'running' and ended.status is null;
  end if;
end $$;

-- Writes what a batch was decided to change, if that is still right, and raises SL001 if it is not. Locks keys, then
-- wallets, both in their order, before anything else; everything else of an account is changed under its wallet's lock.
-- Where other writes came between, the differences are written, and the answer is what they were added to.
create function ledger_commit(
  decided_at timestamptz,
  ended_claims ended_claim[],
  decided_wallets ledger_decided_wallet[],
  opened_buckets ledger_opened_bucket[],
  decided_buckets ledger_decided_bucket[],
  opened_holds ledger_opened_hold[],
  decided_holds ledger_decided_hold[],
  new_postings ledger_new_posting[],
  new_charges ledger_new_charge[],
  decided_spending ledger_decided_spending[]
) returns json language plpgsql
  set enable_seqscan = off set enable_nestloop = off set plan_cache_mode = force_generic_plan as $$
declare
  row_total integer;
  ids text[];
  has_moved boolean;
  -- Nearly always it is one, and then there is nothing to join.
  only_wallet ledger_decided_wallet;
  only_bucket ledger_decided_bucket;
  only_hold ledger_decided_hold;
begin
  if ended_claims is not null then perform end_claims(ended_claims); end if;
  if cardinality(decided_wallets) = 1 then
    only_wallet = decided_wallets[1];
    update wallets
      set version = version + 1, plain_writes = plain_writes + (only_wallet.shape is not null)::integer,
        changed_at = clock_timestamp()
      where account_id = only_wallet.account_id
        and (version = only_wallet.version or version - plain_writes = only_wallet.shape)
      returning version <> only_wallet.version + 1 into has_moved;
    get diagnostics row_total = row_count;
  else
    ids = array(select account_id from unnest(decided_wallets));
    select count(*), bool_or(locked.version <> decided.version) into row_total, has_moved
      from unnest(decided_wallets) as decided
      join (select account_id, version, plain_writes from wallets where account_id = any (ids) order by account_id for update)
        as locked using (account_id)
      where locked.version = decided.version or locked.version - locked.plain_writes = decided.shape;
    update wallets
      set version = wallets.version + 1, plain_writes = plain_writes + (decided.shape is not null)::integer,
        changed_at = clock_timestamp()
      from unnest(decided_wallets) as decided
      where wallets.account_id = decided.account_id and wallets.account_id = any (ids);
  end if;
  if row_total <> cardinality(decided_wallets) then
    raise exception 'a wallet has changed' using errcode = 'SL001';
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
  -- Only open holds are not resolved; their state would invite the index of open holds, full of those that were.
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
    -- Under the wallet's lock nobody else opens the period meanwhile.
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
      -- Numbered in their order: that of an array is the order in which it is read.
      insert into postings (id, leg, account_id, kind, unit, debit, credit, amount, bucket_id, entry_number,
          balance_after, refund_of, fingerprint, cause_kind, cause_id, created_at)
        select posted.*, decided_at from unnest(new_postings) as posted;
    end if;
    return null;
  end if;
  return ledger_add_to_others(decided_at, decided_buckets, new_postings, decided_spending);
end $$;

-- The rest of a batch that other writes came before: its amounts must be there as well after those, and its postings
-- follow theirs. Answers the buckets and the spending as they are now.
create function ledger_add_to_others(
  decided_at timestamptz,
  decided_buckets ledger_decided_bucket[],
  new_postings ledger_new_posting[],
  decided_spending ledger_decided_spending[]
) returns json language plpgsql
  set enable_nestloop = on set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
  set plan_cache_mode = force_generic_plan as $$
declare
  found_buckets json;
  found_spending json;
begin
  if exists (
      select from unnest(decided_buckets) as decided join buckets using (id)
        where buckets.posted - buckets.held - (decided.posted - decided.held) + decided.least_available < 0)
    or exists (
      select from unnest(decided_spending) as decided join key_spending using (key_id, starts_at)
        where key_spending.held + key_spending.spent - (decided.held + decided.spent) + decided.most_counted
          > decided.budget)
  then
    raise exception 'others have taken it' using errcode = 'SL001';
  end if;
  insert into postings (id, leg, account_id, kind, unit, debit, credit, amount, bucket_id, entry_number, balance_after,
      refund_of, fingerprint, cause_kind, cause_id, created_at)
    select posted.id, leg, posted.account_id, posted.kind, posted.unit, debit, credit, amount, bucket_id,
      entry_number + coalesce(buckets.entry_count - decided.entry_count, 0),
      balance_after + coalesce(buckets.posted - decided.posted, 0),
      refund_of, fingerprint, cause_kind, cause_id, decided_at
    from unnest(new_postings) with ordinality as posted
      left join unnest(decided_buckets) as decided on decided.id = posted.bucket_id
      left join buckets on buckets.id = decided.id
    order by ordinality;
  select json_agg(json_build_object('id', id, 'posted', buckets.posted::text, 'held', buckets.held::text,
      'entry_count', buckets.entry_count::text, 'is_open', is_open)) into found_buckets
    from unnest(decided_buckets) as decided join buckets using (id);
  select json_agg(json_build_object('key_id', key_id, 'starts_at', starts_at, 'account_id', key_spending.account_id,
      'held', key_spending.held::text, 'spent', key_spending.spent::text)) into found_spending
    from unnest(decided_spending) as decided join key_spending using (key_id, starts_at);
  return json_build_object('buckets', found_buckets, 'spending', found_spending);
end $$;

-- As before, with `plain_writes`.
create or replace function ledger_load(account_ids text[], named_bucket_ids text[], hold_ids text[], transaction_ids text[], key_ids text[], key_starts timestamp with time zone[], OUT found_wallets json, OUT found_buckets json, OUT found_holds json, OUT found_postings json, OUT found_spending json)
 returns record language plpgsql stable
  set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  wanted_bucket_ids text[] = named_bucket_ids;
begin
  select json_agg(json_build_object('account_id', account_id, 'version', version::text, 'plain_writes', plain_writes::text,
      'is_frozen', frozen_at is not null or exists (select from clawbacks where clawbacks.account_id = wallets.account_id
        and owed_nano > taken_nano + waived_nano))) into found_wallets
    from wallets where account_id = any (account_ids);
  if cardinality(hold_ids) > 0 then
    select json_agg(json_build_object('id', id, 'account_id', account_id, 'unit', unit, 'amount', amount::text,
        'bucket_ids', bucket_ids, 'bucket_amounts', bucket_amounts::text[], 'state', state, 'settled', settled::text,
        'refusal', refusal, 'missing', missing::text, 'fingerprint', fingerprint,
        'settlement_fingerprint', settlement_fingerprint, 'key_id', key_id,
        'budget_key_id', coalesce((select lineage_id from api_keys where api_keys.id = holds.key_id), key_id),
        'budget_starts_at', budget_starts_at, 'cause_kind', cause_kind, 'cause_id', cause_id, 'expires_at', expires_at,
        'opened_at', opened_at, 'resolved_at', resolved_at)) into found_holds
      from holds where id = any (hold_ids);
    if found_holds is not null then
      wanted_bucket_ids = wanted_bucket_ids || array(
        select unnest(bucket_ids) from holds where id = any (hold_ids) and resolved_at is null);
    end if;
  end if;
  if cardinality(transaction_ids) > 0 then
    select json_agg(json_build_object('id', id, 'account_id', account_id, 'kind', kind, 'unit', unit,
        'amount', amount::text, 'bucket_id', bucket_id, 'fingerprint', fingerprint,
        'refunded', (select coalesce(sum(amount), 0)::text from postings refund where refund.refund_of = posting.id))
        order by id, leg) into found_postings
      from postings posting where id = any (transaction_ids);
    if found_postings is not null then
      wanted_bucket_ids = wanted_bucket_ids || array(
        select bucket_id from postings where id = any (transaction_ids) and bucket_id is not null);
    end if;
  end if;
  select json_agg(json_build_object('id', id, 'account_id', account_id, 'kind', kind, 'unit', unit,
      'expires_at', expires_at, 'posted', posted::text, 'held', held::text, 'entry_count', entry_count::text,
      'is_open', is_open, 'opened_at', opened_at)) into found_buckets
    from buckets where (account_id = any (account_ids) and is_open) or id = any (wanted_bucket_ids);
  if cardinality(key_ids) > 0 or found_holds is not null then
    select json_agg(json_build_object('key_id', key_id, 'starts_at', starts_at, 'account_id', account_id,
        'held', held::text, 'spent', spent::text)) into found_spending
      from key_spending where (key_id, starts_at) in (
        select * from unnest(key_ids, key_starts)
        union select coalesce((select lineage_id from api_keys where api_keys.id = holds.key_id), key_id), budget_starts_at
          from holds where id = any (hold_ids) and key_id is not null);
  end if;
end $$;
