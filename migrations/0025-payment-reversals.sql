-- A payment can be given back or contested long after its credit was booked. What was heard of that is one thing; what it
-- takes of the account's credit is another, and what is not there any more is owed.

-- What a channel of payments wants back, one row for each refund or dispute, by its name there. What is owed and neither
-- taken nor waived is the account's debt: nothing is spent while there is one. Only touched under the wallet's lock.
create table clawbacks (
  id text not null,
  account_id text not null,
  channel text not null,
  cause_kind text not null,
  cause_id text not null,
  owed_nano bigint not null,
  taken_nano bigint not null,
  waived_nano bigint not null,
  -- How many movements of money it has made; each is named by its number.
  step_count integer not null,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  constraint clawbacks_id_unique primary key (id),
  constraint clawbacks_account_exists foreign key (account_id) references accounts (id),
  constraint clawbacks_amounts_valid check (
    owed_nano >= 0 and taken_nano >= 0 and waived_nano >= 0 and taken_nano + waived_nano <= owed_nano and step_count >= 0
  )
);

create index clawbacks_by_cause on clawbacks (cause_id);
create index clawbacks_unpaid on clawbacks (account_id, created_at) where owed_nano > taken_nano + waived_nano;

-- Refunds and disputes as Stripe last told of them.
create table payment_reversals (
  id text not null,
  -- In the order in which they were first heard of: what one of them takes, another does not take again.
  number bigint generated always as identity,
  checkout_id text not null,
  kind text not null,
  status text not null,
  amount_minor bigint not null,
  reason text,
  heard_at timestamptz not null,
  changed_at timestamptz not null,
  constraint payment_reversals_id_unique primary key (id),
  constraint payment_reversals_checkout_exists foreign key (checkout_id) references checkouts (id),
  constraint payment_reversals_kind_valid check (kind in ('refund', 'dispute')),
  constraint payment_reversals_amount_valid check (amount_minor >= 0)
);

create index payment_reversals_by_checkout on payment_reversals (checkout_id, number);

-- What was given back or contested before this moved no money, and operators were told to see to it. It stays theirs.
alter table checkouts add column by_hand_since timestamptz;
update checkouts set by_hand_since = now() where refunded_minor > 0 or disputed_at is not null;

-- Up to when Stripe was asked for events that may have been lost.
create table stripe_progress (
  asked_until timestamptz not null,
  only_one boolean not null default true,
  constraint stripe_progress_one_row primary key (only_one),
  constraint stripe_progress_only_one check (only_one)
);

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
      when 'reversal' then (new.debit = new.bucket_id and new.credit like 'funding:%')
        or (new.credit = new.bucket_id and new.debit like 'funding:%')
      when 'expiry' then new.debit = new.bucket_id and new.credit = 'expired'
      else false
    end)
  then return new; end if;
  raise check_violation using constraint = 'postings_kind_valid', table = 'postings',
    message = 'no posting is of this kind', detail = to_json(new)::text;
end $$;

-- As before; an account that owes something back is frozen.
create or replace function ledger_load(
  account_ids text[],
  named_bucket_ids text[],
  hold_ids text[],
  transaction_ids text[],
  key_ids text[],
  key_starts timestamptz[],
  out found_wallets json,
  out found_buckets json,
  out found_holds json,
  out found_postings json,
  out found_spending json
) language plpgsql stable
-- Planned once, and by the keys' indexes, whatever sizes the tables had at that moment.
set enable_seqscan = off
set plan_cache_mode = force_generic_plan as $$
declare
  wanted_bucket_ids text[] = named_bucket_ids;
begin
  select json_agg(json_build_object('account_id', account_id, 'version', version::text,
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
