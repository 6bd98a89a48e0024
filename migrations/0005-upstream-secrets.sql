-- Secrets that the catalog names, encrypted with the deployment's key. The current version of a name is the one that is not
-- retired; older ones stay for a rollback.
create table secrets (
  name text collate "C" not null,
  version integer not null,
  sealed_value bytea not null,
  created_at timestamptz not null,
  created_by text not null,
  retired_at timestamptz,
  -- Gateways write it at most once a minute per process.
  last_used_at timestamptz,
  constraint secrets_unique primary key (name, version),
  constraint secrets_name_valid check (name ~ '^[A-Za-z_][A-Za-z0-9_]{0,127}$'),
  constraint secrets_version_valid check (version > 0)
);

create unique index secrets_current on secrets (name) where retired_at is null;

-- Gateways reload the catalog with everything that decides how its upstreams are called.
create function notify_upstream_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('catalog', '');
  return null;
end $$;

-- A last use is no change.
create trigger secrets_changed after insert or delete or update of retired_at on secrets
  for each statement execute function notify_upstream_change();
