-- Somebody who reads an account's events as they happen, on a machine that cannot be called: `webhooks listen`.
create table webhook_sessions (
  id text not null,
  account_id text not null,
  -- The key that opened it; the secret that signs follows from it.
  key_id text not null,
  -- The stream that reads it at the moment, or did last.
  reader_id text,
  started_at timestamptz not null,
  -- Until when it counts as a listener; moved on while a stream is open.
  listening_until timestamptz not null,
  constraint webhook_sessions_id_unique primary key (id),
  constraint webhook_sessions_id_valid check (id like 'whs\_%')
);

create index webhook_sessions_by_account on webhook_sessions (account_id, listening_until);
create index webhook_sessions_by_time on webhook_sessions (listening_until);
