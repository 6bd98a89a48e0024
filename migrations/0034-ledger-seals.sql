-- What `ledger verify` has checked, so that the next one reads what is new. An account is sealed up to the number of a
-- posting; numbers grow with the commits of an account, because its writers take turns under its wallet's lock.
create table ledger_seals (
  account_id text not null,
  number bigint not null,
  -- The wallet's, at the same moment: while it is the same, there is nothing new.
  wallet_version bigint not null,
  sealed_at timestamptz not null,
  constraint ledger_seals_unique primary key (account_id)
);

-- What the sealed postings of an account sum to: by bucket, by unit, by budget of a key, by payment that was taken back, and
-- all redeemed codes. A witness beside the balances: who changes one by hand has not changed the other.
create table ledger_sealed_sums (
  account_id text not null,
  about text not null,
  name text not null,
  entries bigint not null,
  total bigint not null,
  constraint ledger_sealed_sums_unique primary key (account_id, about, name),
  constraint ledger_sealed_sums_about_valid check (about in ('bucket', 'unit', 'spending', 'reversal', 'code'))
);

-- Where the check of everything goes on when it was cut off, and which accounts it reads from their beginning already; nothing
-- while none is under way.
alter table ledger_checks
  add column whole_account_id text,
  add column whole_unsealed_id text,
  add column whole_hold_id text;
