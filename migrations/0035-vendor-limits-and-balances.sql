-- The rate limits that vendors stated last, by route and key. Each process writes them once a minute at most, outside of calls.
create table vendor_limits (
  provider_id text collate "C" not null,
  upstream_model text collate "C" not null,
  key_number integer not null,
  -- As the vendor names it: `requests`, `input-tokens`.
  name text collate "C" not null,
  most bigint,
  remaining bigint,
  resets_at timestamptz,
  seen_at timestamptz not null,
  constraint vendor_limits_unique primary key (provider_id, upstream_model, key_number, name)
);

-- What is left on our accounts at vendors, by key. A job asks every ten minutes.
create table vendor_balances (
  provider_id text collate "C" not null,
  key_number integer not null,
  -- In billionths. Null if no answer ever had one.
  balance_nano bigint,
  currency text,
  -- Of the balance.
  read_at timestamptz,
  asked_at timestamptz not null,
  -- Why the last answer had no balance.
  failure text,
  constraint vendor_balances_unique primary key (provider_id, key_number),
  constraint vendor_balances_whole check (num_nulls(balance_nano, currency, read_at) in (0, 3))
);
