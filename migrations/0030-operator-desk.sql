-- The operator's pages for today, money, tasks and storage: sums that need no scan, and lists across accounts.

-- Money of all accounts in half hours that have ended. Job `sum-money-slots` fills them, later ones first.
create table money_slots (
  slot_at timestamptz not null,
  calls bigint not null,
  -- Of these, how many have no known cost.
  unknown_calls bigint not null,
  revenue_nano bigint not null,
  cost_nano bigint not null,
  -- How the customers' credit changed, by kind of entry; charges are `revenue_nano`.
  sold_nano bigint not null,
  given_nano bigint not null,
  refunded_nano bigint not null,
  reversed_nano bigint not null,
  expired_nano bigint not null,
  adjusted_nano bigint not null,
  constraint money_slots_unique primary key (slot_at)
);

-- The period that money_slots covers without gaps.
create table money_slot_progress (
  is_only boolean not null default true,
  covered_from timestamptz not null,
  covered_until timestamptz not null,
  constraint money_slot_progress_unique primary key (is_only),
  constraint money_slot_progress_only check (is_only),
  constraint money_slot_progress_order check (covered_from <= covered_until)
);

-- Rows are written in the order of their time, so a BRIN index is small and costs writes next to nothing.
create index usage_rollups_by_time on usage_rollups using brin (slot_at);
-- Every entry but charges: calls write none of them.
create index postings_of_credit on postings (created_at, number) where kind <> 'charge' and kind <> 'loss';

-- Checks of the ledger that operators ask for. A job runs them, one at a time.
create table ledger_verifications (
  id text collate "C" not null,
  scope text not null,
  state text not null,
  asked_by text not null,
  asked_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  accounts bigint,
  entries bigint,
  holds bigint,
  violation_count integer not null default 0,
  -- The first of them.
  violations jsonb not null default '[]'::jsonb,
  constraint ledger_verifications_unique primary key (id),
  constraint ledger_verifications_id_valid check (id like 'ver\_%'),
  constraint ledger_verifications_scope_valid check (scope in ('new', 'whole')),
  constraint ledger_verifications_state_valid check (
    case state
      when 'waiting' then num_nonnulls(started_at, ended_at) = 0
      when 'running' then started_at is not null and ended_at is null
      when 'passed' then num_nulls(started_at, ended_at) = 0
      when 'failed' then num_nulls(started_at, ended_at) = 0
      else false
    end
  )
);

create unique index ledger_verifications_one_open on ledger_verifications ((true)) where state in ('waiting', 'running');

-- Codes that were created together. Codes of earlier versions have none.
create table code_batches (
  id text collate "C" not null,
  kind text not null,
  amount_nano bigint not null,
  currency text not null,
  gift_days integer,
  note text not null,
  code_count integer not null,
  created_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  constraint code_batches_unique primary key (id),
  constraint code_batches_id_valid check (id like 'batch\_%'),
  constraint code_batches_amounts_valid check (amount_nano > 0 and code_count > 0)
);

alter table redeem_codes add column batch_id text collate "C" constraint redeem_codes_batch_exists references code_batches (id);
create index redeem_codes_by_batch on redeem_codes (batch_id, id) where batch_id is not null;

-- Ids of external payments are hashes, so they are not in the order of time.
create index checkouts_by_time on checkouts (created_at, id);
create index payment_reversals_by_number on payment_reversals (number);
-- Failures are rare: successful tasks and deliveries write neither.
create index tasks_failed on tasks (id) where state = 'failed' or state = 'expired';
create index deliveries_failing on deliveries (id) where state = 'failed' or (state = 'pending' and attempt_count > 0);
