-- Catalog files that a job applies at a time, each once.
create table scheduled_catalogs (
  id text collate "C" not null,
  source text not null,
  reason text not null,
  -- The version that was active when it was scheduled. It only informs: the file is checked again when it is applied.
  base_version integer not null,
  run_at timestamptz not null,
  status text not null,
  created_at timestamptz not null,
  created_by text not null,
  finished_at timestamptz,
  -- The version that it became.
  version integer,
  -- Why it was not applied.
  failure text,
  constraint scheduled_catalogs_id_unique primary key (id),
  constraint scheduled_catalogs_id_valid check (id like 'csch\_%'),
  constraint scheduled_catalogs_reason_valid check (length(reason) between 1 and 500),
  constraint scheduled_catalogs_status_valid check (status in ('waiting', 'applied', 'failed', 'canceled')),
  constraint scheduled_catalogs_end_valid check ((status = 'waiting') = (finished_at is null))
);

create index scheduled_catalogs_waiting on scheduled_catalogs (run_at) where status = 'waiting';
