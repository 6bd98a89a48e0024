-- What each gateway has lately seen of upstreams that are not simply well: told to operators, never decided upon.
create table upstream_health (
  node_id text not null,
  provider_id text not null,
  upstream_model text not null,
  key_number integer not null,
  state text not null,
  failures integer not null,
  last_failure text not null,
  rests_until timestamptz not null,
  reported_at timestamptz not null,
  constraint upstream_health_unique primary key (node_id, provider_id, upstream_model, key_number),
  constraint upstream_health_state_valid check (state in ('resting', 'probing', 'shaky'))
);
