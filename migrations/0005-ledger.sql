-- The ledger. The tables that every paid call writes to have no foreign keys and leave room in their pages, because both
-- are felt there; what they would guarantee is checked by the invariants of `ledger verify`.

-- The currency of every amount below: one row, written before the first entry.
create table ledger_currencies (
  currency text not null,
  only_one boolean not null default true,
  constraint ledger_currencies_one_row primary key (only_one),
  constraint ledger_currencies_only_one check (only_one),
  constraint ledger_currencies_valid check (currency ~ '^[A-Z]{3}$')
);

-- One for each account: its lock, and the number of the state that all its other rows are in.
create table wallets (
  account_id text not null,
  version bigint not null default 0,
  changed_at timestamptz not null default now(),
  -- Set when an invariant was found broken: nothing new is spent until somebody has looked.
  frozen_at timestamptz,
  frozen_reason text,
  constraint wallets_account_unique primary key (account_id),
  constraint wallets_account_exists foreign key (account_id) references accounts (id)
) with (fillfactor = 50);

-- Made where these are written, and only there: a check of the table would be read anew in every hold and settlement.
create function check_wallet_freeze() returns trigger language plpgsql as $$
begin
  if (new.frozen_at is null) = (new.frozen_reason is null) then return new; end if;
  raise check_violation using constraint = 'wallets_frozen_complete', table = 'wallets',
    message = 'a wallet is frozen at a moment and for a reason, or neither', detail = to_json(new)::text;
end $$;

create trigger wallets_frozen_complete before insert or update of frozen_at, frozen_reason on wallets
  for each row execute function check_wallet_freeze();

insert into wallets (account_id) select id from accounts;

create function create_wallet() returns trigger language plpgsql as $$
begin
  insert into wallets (account_id) values (new.id);
  return null;
end $$;

create trigger accounts_have_wallets after insert on accounts
  for each row execute function create_wallet();

-- Where an account's money and quotas are: its cash, and each gift and each plan period by itself.
create table buckets (
  id text not null,
  account_id text not null,
  kind text not null,
  unit text not null,
  expires_at timestamptz,
  posted bigint not null,
  held bigint not null,
  entry_count bigint not null,
  -- False once a gift or quota is used up, so that it need not be read again.
  is_open boolean not null,
  opened_at timestamptz not null,
  constraint buckets_id_unique primary key (id),
  constraint buckets_cash_stays check (kind <> 'cash' or expires_at is null),
  constraint buckets_never_overdrawn check (held >= 0 and posted >= held),
  constraint buckets_closed_empty check (is_open or posted = 0)
) with (fillfactor = 50);

-- Every statement reads the checks of its table anew from their text. The longest one of this table would be felt in
-- every hold and is about what never changes, so it is made where that is written, and only there.
create function check_bucket_kind() returns trigger language plpgsql as $$
begin
  if new.id like 'bkt\_%' and (case new.kind
      when 'cash' then new.unit = 'money' and new.id = 'bkt_' || substr(new.account_id, 6)
      when 'gift' then new.unit = 'money'
      when 'quota' then new.unit in ('text', 'image', 'video')
      else false
    end)
  then return new; end if;
  raise check_violation using constraint = 'buckets_kind_valid', table = 'buckets',
    message = 'no bucket is of this kind', detail = to_json(new)::text;
end $$;

create trigger buckets_kind_valid before insert or update of id, account_id, kind, unit on buckets
  for each row execute function check_bucket_kind();

create index buckets_open_by_account on buckets (account_id) where is_open;
create index buckets_open_by_expiry on buckets (expires_at) where is_open and expires_at is not null;

-- What is set aside for work that is not finished, and how that ended. A refusal is kept too, so that the same id can
-- never be answered otherwise later.
create table holds (
  id text not null,
  account_id text not null,
  unit text not null,
  amount bigint not null,
  bucket_ids text[] not null,
  bucket_amounts bigint[] not null,
  state text not null,
  settled bigint not null,
  refusal text,
  missing bigint,
  fingerprint text not null,
  settlement_fingerprint text,
  -- The key whose budget it counts in, and the budget's period.
  key_id text,
  budget_starts_at timestamptz,
  cause_kind text not null,
  cause_id text not null,
  expires_at timestamptz not null,
  opened_at timestamptz not null,
  resolved_at timestamptz,
  constraint holds_id_unique primary key (id),
  constraint holds_id_valid check (id like 'hold\_%'),
  constraint holds_unit_valid check (unit in ('money', 'text', 'image', 'video')),
  constraint holds_lines_complete check (cardinality(bucket_ids) = cardinality(bucket_amounts)),
  constraint holds_amount_positive check (amount > 0),
  constraint holds_settled_within check (settled between 0 and amount),
  constraint holds_budget_complete check ((key_id is null) = (budget_starts_at is null)),
  constraint holds_state_valid check (
    case state
      when 'open' then resolved_at is null and settled = 0 and cardinality(bucket_ids) > 0
      when 'settled' then resolved_at is not null and settlement_fingerprint is not null
      when 'released' then resolved_at is not null and settled = 0
      when 'expired' then resolved_at is not null and settled = 0
      when 'refused' then resolved_at is not null and settled = 0 and cardinality(bucket_ids) = 0
      else false
    end
  ),
  constraint holds_refusal_complete check ((state = 'refused') = (refusal is not null) and (refusal is null) = (missing is null))
) with (fillfactor = 80);

create index holds_open_by_expiry on holds (expires_at) where state = 'open';
create index holds_open_by_account on holds (account_id) where state = 'open';

-- Every movement, both sides in one row, for ever. A bucket is what Sluice owes the customer, so a credit raises it.
create table postings (
  -- In the order in which they happened, within an account.
  number bigint generated always as identity,
  id text not null,
  leg smallint not null,
  account_id text not null,
  kind text not null,
  unit text not null,
  debit text not null,
  credit text not null,
  amount bigint not null,
  -- The customer's side, its entry number and its balance afterwards; a loss has none.
  bucket_id text,
  entry_number bigint,
  balance_after bigint,
  -- The posting that a refund takes back.
  refund_of text,
  fingerprint text not null,
  cause_kind text not null,
  cause_id text not null,
  created_at timestamptz not null,
  constraint postings_id_unique primary key (id, leg),
  constraint postings_entry_unique unique (bucket_id, entry_number),
  constraint postings_amount_positive check (amount > 0),
  constraint postings_two_sides check (debit <> credit)
);

-- Not in the table's checks, because every settlement would read its text anew.
create function check_posting_kind() returns trigger language plpgsql as $$
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
      when 'expiry' then new.debit = new.bucket_id and new.credit = 'expired'
      else false
    end)
  then return new; end if;
  raise check_violation using constraint = 'postings_kind_valid', table = 'postings',
    message = 'no posting is of this kind', detail = to_json(new)::text;
end $$;

create trigger postings_kind_valid before insert on postings for each row execute function check_posting_kind();

create index postings_by_account on postings (account_id, number);
create index postings_refunds on postings (refund_of) where refund_of is not null;

create trigger postings_final before update or delete on postings
  for each row execute function refuse_change();

-- What a settlement was for: the quantities, and the price as it was, so that each can be computed again.
create table charges (
  -- That of its postings.
  id text not null,
  hold_id text not null,
  account_id text not null,
  unit text not null,
  price_id text not null,
  item_names text[] not null,
  item_quantities bigint[] not null,
  item_rates_nano bigint[] not null,
  -- Each rate is for this many of its quantity.
  rates_per bigint not null,
  minimum_nano bigint not null,
  quota_units bigint not null,
  paid bigint not null,
  lost bigint not null,
  created_at timestamptz not null,
  constraint charges_id_unique primary key (id),
  constraint charges_items_complete check (
    cardinality(item_names) = cardinality(item_quantities) and cardinality(item_names) = cardinality(item_rates_nano)
  ),
  constraint charges_amounts_valid check (rates_per > 0 and minimum_nano >= 0 and quota_units >= 0 and paid >= 0 and lost >= 0)
);

create trigger charges_final before update or delete on charges
  for each row execute function refuse_change();

-- What a key with a budget has spent and set aside in a period of it.
create table key_spending (
  key_id text not null,
  starts_at timestamptz not null,
  account_id text not null,
  held bigint not null,
  spent bigint not null,
  constraint key_spending_unique primary key (key_id, starts_at),
  constraint key_spending_valid check (held >= 0 and spent >= 0)
) with (fillfactor = 50);

-- Tells what operations ask about, as it all is at one moment: a stable function sees what the query that calls it sees.
-- Whole numbers travel as text, because JSON's would lose their last digits.
create function ledger_load(
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
      'is_frozen', frozen_at is not null)) into found_wallets
    from wallets where account_id = any (account_ids);
  if cardinality(hold_ids) > 0 then
    select json_agg(json_build_object('id', id, 'account_id', account_id, 'unit', unit, 'amount', amount::text,
        'bucket_ids', bucket_ids, 'bucket_amounts', bucket_amounts::text[], 'state', state, 'settled', settled::text,
        'refusal', refusal, 'missing', missing::text, 'fingerprint', fingerprint,
        'settlement_fingerprint', settlement_fingerprint, 'key_id', key_id, 'budget_starts_at', budget_starts_at,
        'cause_kind', cause_kind, 'cause_id', cause_id, 'expires_at', expires_at, 'opened_at', opened_at,
        'resolved_at', resolved_at)) into found_holds
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
        union select key_id, budget_starts_at from holds where id = any (hold_ids) and key_id is not null);
  end if;
end $$;

-- Writes what a batch was decided to change, if the wallets are still in the states that it was decided on, and says
-- whether they were. Locks wallets in the order of their ids, before anything else; everything else of an account is
-- only ever touched under that lock.
create function ledger_write(
  account_ids text[],
  versions bigint[],
  opened_buckets json,
  changed_bucket_ids text[],
  changed_posted bigint[],
  changed_held bigint[],
  changed_entry_counts bigint[],
  changed_openness boolean[],
  changed_expiries timestamptz[],
  opened_holds json,
  changed_holds json,
  changed_hold_ids text[],
  new_postings json,
  new_charges json,
  changed_spending json
) returns boolean language plpgsql
-- Each statement is planned once, for tables of any size: it names the ids of the rows that it touches, and with no
-- reading from end to end allowed, the key's index is the only way to them. A join alone would be planned by the number
-- of rows at that moment, and could read the whole of a table, or of the index of open holds, for ever after.
set enable_seqscan = off
set plan_cache_mode = force_generic_plan as $$
declare
  row_total integer;
begin
  if cardinality(account_ids) = 1 then
    update wallets set version = version + 1, changed_at = clock_timestamp()
      where account_id = account_ids[1] and version = versions[1];
    if not found then return false; end if;
  else
    select count(*) into row_total
      from unnest(account_ids, versions) as decided (account_id, version)
      join (select account_id, version from wallets where account_id = any (account_ids) order by account_id for update)
        as locked using (account_id, version);
    if row_total <> cardinality(account_ids) then return false; end if;
    update wallets set version = version + 1, changed_at = clock_timestamp() where account_id = any (account_ids);
  end if;
  if opened_buckets is not null then
    insert into buckets select * from json_populate_recordset(null::buckets, opened_buckets);
  end if;
  -- Nearly always it is one, and then there is nothing to join.
  if cardinality(changed_bucket_ids) = 1 then
    update buckets
      set posted = changed_posted[1], held = changed_held[1], entry_count = changed_entry_counts[1],
        is_open = changed_openness[1], expires_at = changed_expiries[1]
      where id = changed_bucket_ids[1];
    if not found then raise exception 'a bucket is missing'; end if;
  elsif cardinality(changed_bucket_ids) > 1 then
    update buckets
      set posted = changed.posted, held = changed.held, entry_count = changed.entry_count,
        is_open = changed.is_open, expires_at = changed.expires_at
      from unnest(changed_bucket_ids, changed_posted, changed_held, changed_entry_counts, changed_openness, changed_expiries)
        as changed (id, posted, held, entry_count, is_open, expires_at)
      where buckets.id = changed.id and buckets.id = any (changed_bucket_ids);
    get diagnostics row_total = row_count;
    if row_total <> cardinality(changed_bucket_ids) then raise exception 'a bucket is missing'; end if;
  end if;
  if opened_holds is not null then
    insert into holds select * from json_populate_recordset(null::holds, opened_holds);
  end if;
  if changed_holds is not null then
    update holds
      set amount = changed.amount, bucket_ids = changed.bucket_ids, bucket_amounts = changed.bucket_amounts,
        state = changed.state, settled = changed.settled, settlement_fingerprint = changed.settlement_fingerprint,
        expires_at = changed.expires_at, resolved_at = changed.resolved_at
      from json_populate_recordset(null::holds, changed_holds) as changed
      -- Only open ones are not resolved; their state would invite the index of open holds, full of those that were.
      where holds.id = changed.id and holds.id = any (changed_hold_ids) and holds.resolved_at is null;
    get diagnostics row_total = row_count;
    if row_total <> json_array_length(changed_holds) then raise exception 'a hold is not open'; end if;
  end if;
  if new_postings is not null then
    insert into postings (id, leg, account_id, kind, unit, debit, credit, amount, bucket_id, entry_number, balance_after,
        refund_of, fingerprint, cause_kind, cause_id, created_at)
      select id, leg, account_id, kind, unit, debit, credit, amount, bucket_id, entry_number, balance_after,
        refund_of, fingerprint, cause_kind, cause_id, created_at
      from json_populate_recordset(null::postings, new_postings) with ordinality
      order by ordinality;
  end if;
  if new_charges is not null then
    insert into charges select * from json_populate_recordset(null::charges, new_charges);
  end if;
  if changed_spending is not null then
    insert into key_spending select * from json_populate_recordset(null::key_spending, changed_spending)
      on conflict (key_id, starts_at) do update set held = excluded.held, spent = excluded.spent;
  end if;
  return true;
end $$;

-- How far the check of what changed has got, whichever gateway made it.
create table ledger_checks (
  checked_at timestamptz not null,
  checked_number bigint not null,
  -- Where the check before the last one ended: a posting gets its number before it is committed.
  previous_number bigint not null,
  only_one boolean not null default true,
  constraint ledger_checks_one_row primary key (only_one),
  constraint ledger_checks_only_one check (only_one)
);

insert into ledger_checks (checked_at, checked_number, previous_number) values (now(), 0, 0);

-- What people who run Sluice did to accounts' money, and why.
create table operator_actions (
  id text not null,
  actor text not null,
  action text not null,
  reason text not null,
  created_at timestamptz not null,
  constraint operator_actions_id_unique primary key (id),
  constraint operator_actions_id_valid check (id like 'act\_%'),
  constraint operator_actions_words_valid check (length(actor) between 1 and 200 and length(reason) between 1 and 500)
);

create trigger operator_actions_final before update or delete on operator_actions
  for each row execute function refuse_change();

-- Credit that whoever has the code can take once.
create table redeem_codes (
  id text not null,
  -- SHA-256 of the code: the code itself is never stored.
  hash bytea not null,
  last_four text not null,
  kind text not null,
  amount_nano bigint not null,
  currency text not null,
  -- How long the gift lasts once it is redeemed.
  gift_days integer,
  note text not null,
  created_at timestamptz not null,
  -- Until when it can be redeemed.
  expires_at timestamptz,
  voided_at timestamptz,
  redeemed_at timestamptz,
  redeemed_by text,
  constraint redeem_codes_id_unique primary key (id),
  constraint redeem_codes_id_valid check (id like 'code\_%'),
  constraint redeem_codes_hash_unique unique (hash),
  constraint redeem_codes_kind_valid check (kind in ('cash', 'gift') and (kind = 'gift' or gift_days is null)),
  constraint redeem_codes_amount_positive check (amount_nano > 0),
  constraint redeem_codes_gift_days_positive check (gift_days > 0),
  constraint redeem_codes_redeemed_complete check ((redeemed_at is null) = (redeemed_by is null)),
  constraint redeem_codes_ended_once check (voided_at is null or redeemed_at is null)
);

-- What a plan gives in each of its periods.
alter table plans
  add column period text not null default 'month',
  add column quota_text bigint not null default 0,
  add column quota_image bigint not null default 0,
  add column quota_video bigint not null default 0,
  add constraint plans_period_valid check (period in ('day', 'week', 'month')),
  add constraint plans_quotas_valid check (quota_text >= 0 and quota_image >= 0 and quota_video >= 0);

-- The periods of accounts' plans; each has its quotas in buckets of its own.
create table plan_periods (
  id text not null,
  account_id text not null,
  plan_id text not null,
  plan_name text not null,
  -- When the account came to the plan: all periods are counted from there, so that none drifts.
  anchored_at timestamptz not null,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  -- False once another period followed, or the account left the plan.
  is_latest boolean not null,
  constraint plan_periods_id_unique primary key (id),
  constraint plan_periods_id_valid check (id like 'per\_%'),
  constraint plan_periods_length_valid check (ends_at >= starts_at)
);

create unique index plan_periods_one_latest on plan_periods (account_id) where is_latest;
create index plan_periods_latest_by_end on plan_periods (ends_at) where is_latest;

-- Accounts that have a plan already: a period that is over now, so that the next one begins at once.
insert into plan_periods (id, account_id, plan_id, plan_name, anchored_at, starts_at, ends_at, is_latest)
  select 'per_' || substr(accounts.id, 6), accounts.id, plans.id, plans.name, now(), now(), now(), true
  from accounts join plans on plans.id = accounts.plan_id;
