-- What was sent with an Idempotency-Key, and what came of it, so that sending it again does nothing twice.
create table idempotency_keys (
  account_id text not null,
  key text not null,
  -- Of method, path and body: the same key with another one is a mistake.
  fingerprint bytea not null,
  -- The request that runs or ran under the key. Whoever takes the key over from a dead process writes its own, so that
  -- the dead one, should it wake up, finds itself replaced.
  request_id text not null,
  hold_id text,
  state text not null,
  -- Until when the process that runs the request is believed to be alive.
  lease_until timestamptz not null,
  status smallint,
  content_type text,
  -- Absent where the answer was too large to keep.
  body bytea,
  summary text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint idempotency_keys_unique primary key (account_id, key),
  constraint idempotency_keys_account_exists foreign key (account_id) references accounts (id),
  constraint idempotency_keys_key_valid check (key ~ '^[\x21-\x7e]{1,255}$'),
  constraint idempotency_keys_state_valid check (
    case state
      when 'running' then num_nonnulls(status, content_type, body, summary) = 0
      when 'finished' then num_nulls(status, content_type, summary) = 0
      else false
    end
  )
);

create index idempotency_keys_by_expiry on idempotency_keys (expires_at);
