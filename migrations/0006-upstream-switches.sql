-- Upstreams that operators took out of service without a change of the catalog. Ended rows stay as a record.
create table upstream_switches (
  id bigint generated always as identity,
  -- The subject is a provider, a route (`provider/upstream model`), or the name of a key.
  kind text not null,
  subject text not null,
  mode text not null,
  reason text not null,
  created_at timestamptz not null,
  created_by text not null,
  -- When it ends by itself; null means that an operator ends it.
  ends_at timestamptz,
  ended_at timestamptz,
  ended_by text,
  constraint upstream_switches_unique primary key (id),
  constraint upstream_switches_kind_valid check (kind in ('provider', 'route', 'key')),
  constraint upstream_switches_mode_valid check (mode in ('disabled', 'draining')),
  constraint upstream_switches_end_valid check ((ended_at is null) = (ended_by is null))
);

create unique index upstream_switches_current on upstream_switches (kind, subject) where ended_at is null;

create trigger upstream_switches_changed after insert or delete or update on upstream_switches
  for each statement execute function notify_upstream_change();
