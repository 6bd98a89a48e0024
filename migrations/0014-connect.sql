-- Keys named BA:<client> belong to programs that were connected through a browser: one live key for each program of an
-- account. Until now only people gave such names; their keys stay, under another one.
update api_keys set name = left('key ' || name, 100) where name like 'BA:%';

create unique index api_keys_one_for_each_client on api_keys (account_id, name)
  where name like 'BA:%' and revoked_at is null;

-- When keys were used, to the minute. Not in api_keys, because all nodes forget an account's keys when one changes.
create table api_key_uses (
  key_id text not null,
  first_used_at timestamptz not null,
  last_used_at timestamptz not null,
  constraint api_key_uses_unique primary key (key_id),
  constraint api_key_uses_key_exists foreign key (key_id) references api_keys (id)
);

-- Programs that ask to be connected: on the person's own computer (browser), or anywhere by a code (device).
create table connect_requests (
  -- Random, and no secret: a request belongs to the first session that opens it.
  id text not null,
  kind text not null,
  client text not null,
  state text not null,
  -- Where the answer goes, and the program's own state, encoded as it goes back.
  redirect_uri text,
  client_state text,
  -- SHA-256 of the verifier, in base64url, of a program that wants a code instead of the key.
  code_challenge text,
  user_code text,
  polled_at timestamptz,
  poll_seconds integer,
  -- SHA-256 of what the program exchanges for its key: its code since the approval, or the device's from the beginning.
  secret_hash bytea,
  session_id text,
  user_id text,
  account_id text,
  -- What the person limited the key to.
  key_days integer,
  budget_nano bigint,
  key_id text,
  created_at timestamptz not null,
  -- Until when it can be answered, or after that the key be fetched.
  expires_at timestamptz not null,
  constraint connect_requests_id_unique primary key (id),
  constraint connect_requests_user_code_unique unique (user_code),
  constraint connect_requests_secret_unique unique (secret_hash),
  constraint connect_requests_account_exists foreign key (account_id) references accounts (id),
  constraint connect_requests_client_valid check (client ~ '^[A-Za-z0-9._-]{2,64}$'),
  constraint connect_requests_kind_valid check (
    case kind
      when 'browser' then num_nulls(redirect_uri, client_state) = 0 and num_nonnulls(user_code, polled_at, poll_seconds) = 0
      when 'device' then num_nulls(user_code, poll_seconds, secret_hash) = 0 and num_nonnulls(redirect_uri, client_state, code_challenge) = 0
      else false
    end
  ),
  constraint connect_requests_owner_valid check (num_nulls(session_id, user_id, account_id) in (0, 3)),
  constraint connect_requests_state_valid check (
    case state
      when 'open' then key_id is null
      when 'denied' then key_id is null and account_id is not null
      when 'approved' then account_id is not null
      when 'delivered' then account_id is not null and key_id is not null
      else false
    end
  )
);

create index connect_requests_by_expiry on connect_requests (expires_at);
