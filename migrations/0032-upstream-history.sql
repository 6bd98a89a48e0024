-- What happened to upstreams and has no other record: circuits that opened and closed, and tests. A job deletes old rows.
create table upstream_events (
  id bigint generated always as identity,
  kind text not null,
  at timestamptz not null,
  provider_id text collate "C" not null,
  -- Null: all models of the key, or of the provider.
  upstream_model text collate "C",
  -- Null for tests, which use every key.
  key_number integer,
  actor text,
  detail text,
  constraint upstream_events_unique primary key (id),
  constraint upstream_events_kind_valid check (kind in ('circuit_opened', 'circuit_closed', 'test_passed', 'test_failed')),
  constraint upstream_events_key_valid check ((key_number is null) = (kind in ('test_passed', 'test_failed')))
);

create index upstream_events_by_time on upstream_events (at);
