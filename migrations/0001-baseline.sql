-- The whole schema of Sluice 0.2.0. Later changes are migrations of their own (0002-….sql); schema.sql shows the sum of all.
--
-- Conventions:
-- * Money is `bigint` nano units of the ledger's currency: 1 USD is 1,000,000,000.
-- * Ids are text with a prefix (`acct_`, `key_`, `task_`, …) followed by their creation time, so they sort by time.
-- * Every constraint is named, so an error says which rule broke.
-- * Tables that every paid call writes have no foreign keys and a fillfactor below 100 for HOT updates. `ledger verify`
--   checks what foreign keys would guarantee.
-- * Sections: functions for triggers and partitions; accounts and keys; people and sign-in; catalog; ledger; usage; paid calls;
--   payments; files; tasks; webhooks; responses and conversations; request log; backups; scheduled jobs.

----------------------------------------------------------------------------------------------------------------------
-- Functions for triggers and partitions
----------------------------------------------------------------------------------------------------------------------

-- For append-only tables: charges refer to prices forever, and the ledger's history is final.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed or deleted', tg_table_name;
end $$;

-- The smallest id of a moment: the prefix and the time in Crockford's base 32, as in `src/lib/ids.ts`.
create function least_id(prefix text, moment timestamptz) returns text language sql immutable parallel safe as $$
  select prefix || '_' || string_agg(
    substr('0123456789abcdefghjkmnpqrstvwxyz',
      ((floor(extract(epoch from moment) * 1000)::bigint >> (5 * (9 - place))) & 31)::integer + 1, 1),
    '' order by place)
  from generate_series(0, 9) as place
$$;

-- Creates the partitions of a table by `created_at`, from one moment to another: one for each month or day in UTC, named
-- after it (`requests_202611`). Rows without a partition wait in the default partition and move when theirs is created.
create function make_partitions(parent text, unit text, first_moment timestamptz, last_moment timestamptz)
returns integer language plpgsql as $$
declare
  part text;
  made integer := 0;
  start timestamp := date_trunc(unit, first_moment at time zone 'UTC');
  next timestamp;
begin
  -- Several nodes may run this at once.
  perform pg_advisory_xact_lock(7264042);
  while start <= last_moment at time zone 'UTC' loop
    next := start + ('1 ' || unit)::interval;
    part := parent || '_' || to_char(start, case unit when 'month' then 'YYYYMM' else 'YYYYMMDD' end);
    if to_regclass(quote_ident(part)) is null then
      execute format('lock table %I in access exclusive mode', parent || '_default');
      execute format('create table %I (like %I including all)', part, parent);
      execute format(
        'with moved as (delete from %I where created_at >= %L and created_at < %L returning *) insert into %I select * from moved',
        parent || '_default', start at time zone 'UTC', next at time zone 'UTC', part);
      execute format('alter table %I attach partition %I for values from (%L) to (%L)',
        parent, part, start at time zone 'UTC', next at time zone 'UTC');
      made := made + 1;
    end if;
    start := next;
  end loop;
  return made;
end $$;

-- Drops the partitions that only contain rows older than `kept_from`, and such rows of the default partition.
create function drop_partitions(parent text, unit text, kept_from timestamptz)
returns integer language plpgsql as $$
declare
  part text;
  dropped integer := 0;
begin
  execute format('delete from %I where created_at < %L', parent || '_default', kept_from);
  for part in
    select relname from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = quote_ident(parent)::regclass and relname ~ '_[0-9]{6}([0-9]{2})?$'
        and (to_date(substring(relname from '[0-9]+$'), case unit when 'month' then 'YYYYMM' else 'YYYYMMDD' end)
          + ('1 ' || unit)::interval) at time zone 'UTC' <= kept_from
  loop
    execute format('drop table %I', part);
    dropped := dropped + 1;
  end loop;
  return dropped;
end $$;

-- Creates the monthly partitions of every table that is partitioned by ranges of ids: those with a partition `…_before`, which
-- holds everything before their first month. Months are in UTC and named after themselves (`tasks_202701`). Rows without a
-- partition wait in the default partition and move when theirs is created.
create function make_months(first_moment timestamptz, last_moment timestamptz)
returns integer language plpgsql as $$
declare
  monthly record;
  month timestamp;
  part text;
  bounds text[];
  made integer := 0;
begin
  for monthly in
    select parent.relname as name, attname as key, array_to_string(strays.reloptions, ', ') as options,
        substring(pg_get_expr(before.relpartbound, before.oid) from 'TO \(''(.+)''\)') as first_bound
      from pg_partitioned_table
      join pg_class parent on parent.oid = partrelid
      join pg_attribute on attrelid = partrelid and attnum = partattrs[0]
      join pg_class before on before.oid = to_regclass(quote_ident(parent.relname || '_before'))
      join pg_class strays on strays.oid = partdefid
      where parent.relnamespace = current_schema()::regnamespace
      order by parent.relname
  loop
    month := date_trunc('month', first_moment at time zone 'UTC');
    while month <= last_moment at time zone 'UTC' loop
      part := monthly.name || '_' || to_char(month, 'YYYYMM');
      bounds := array[least_id(split_part(monthly.first_bound, '_', 1), month at time zone 'UTC'),
        least_id(split_part(monthly.first_bound, '_', 1), (month + interval '1 month') at time zone 'UTC')];
      month := month + interval '1 month';
      continue when bounds[1] collate "C" < monthly.first_bound collate "C" or to_regclass(quote_ident(part)) is not null;
      -- Several nodes may run this at once. `to_regclass` caches misses, so look again in pg_class under the lock.
      perform pg_advisory_xact_lock(7264042);
      perform from pg_class where relname = part and relnamespace = current_schema()::regnamespace;
      continue when found;
      execute format('lock table %I in access exclusive mode', monthly.name || '_default');
      execute format('create table %I (like %I including all) %s', part, monthly.name, 'with (' || monthly.options || ')');
      -- The triggers refuse changes and deletions; these rows only move.
      execute format('alter table %I disable trigger user', monthly.name || '_default');
      execute format('with moved as (delete from %I where %I >= %L and %I < %L returning *) insert into %I select * from moved',
        monthly.name || '_default', monthly.key, bounds[1], monthly.key, bounds[2], part);
      execute format('alter table %I enable trigger user', monthly.name || '_default');
      execute format('alter table %I attach partition %I for values from (%L) to (%L)',
        monthly.name, part, bounds[1], bounds[2]);
      made := made + 1;
    end loop;
  end loop;
  return made;
end $$;

-- Drops the months of a table in which every id is older than `kept_from`. The partition before the first month stays, emptied.
create function drop_months(parent text, kept_from timestamptz)
returns integer language plpgsql as $$
declare
  part record;
  dropped integer := 0;
  is_filled boolean;
begin
  for part in
    select relname as name, bound from pg_inherits join pg_class on pg_class.oid = inhrelid
      cross join lateral (select substring(pg_get_expr(relpartbound, pg_class.oid) from 'TO \(''(.+)''\)') as bound) bounds
      where inhparent = quote_ident(parent)::regclass
        and bound collate "C" <= least_id(split_part(bound, '_', 1), kept_from) collate "C"
  loop
    if part.name = parent || '_before' then
      execute format('select exists (select from %I)', part.name) into is_filled;
      continue when not is_filled;
      execute format('truncate %I', part.name);
    else
      execute format('drop table %I', part.name);
    end if;
    dropped := dropped + 1;
  end loop;
  return dropped;
end $$;

----------------------------------------------------------------------------------------------------------------------
-- Accounts and keys
----------------------------------------------------------------------------------------------------------------------

-- What an operator sells: limits, and free quotas for each period.
create table plans (
  id text not null,
  name text not null,
  -- An account's own limit replaces its plan's, a key's applies in addition. Null sets none.
  requests_per_minute integer,
  tokens_per_minute integer,
  concurrent_requests integer,
  tasks_in_flight integer,
  created_at timestamptz not null,
  period text not null default 'month',
  -- Free units per period: tokens, images, seconds.
  quota_text bigint not null default 0,
  quota_image bigint not null default 0,
  quota_video bigint not null default 0,
  constraint plans_id_unique primary key (id),
  constraint plans_id_valid check (id ~ '^[a-z0-9][a-z0-9_-]{0,63}$'),
  constraint plans_name_valid check (length(name) between 1 and 100),
  constraint plans_limits_valid check (
    requests_per_minute > 0 and tokens_per_minute > 0 and concurrent_requests > 0 and tasks_in_flight > 0
  ),
  constraint plans_period_valid check (period in ('day', 'week', 'month')),
  constraint plans_quotas_valid check (quota_text >= 0 and quota_image >= 0 and quota_video >= 0)
);

-- A customer: owns keys, money, tasks and files. A trigger creates its wallet.
create table accounts (
  id text not null,
  email text not null,
  created_at timestamptz not null,
  plan_id text,
  suspended_at timestamptz,
  requests_per_minute integer,
  tokens_per_minute integer,
  concurrent_requests integer,
  tasks_in_flight integer,
  -- Days and months of usage begin at midnight of this zone.
  time_zone text not null default 'UTC',
  constraint accounts_id_unique primary key (id),
  constraint accounts_plan_exists foreign key (plan_id) references plans (id),
  constraint accounts_id_valid check (id like 'acct\_%'),
  constraint accounts_email_valid check (email like '%_@_%' and length(email) <= 254),
  constraint accounts_limits_valid check (
    requests_per_minute > 0 and tokens_per_minute > 0 and concurrent_requests > 0 and tasks_in_flight > 0
  ),
  constraint accounts_time_zone_valid check (length(time_zone) between 1 and 64)
);

-- Addresses that differ only in case reach the same person.
create unique index accounts_email_unique on accounts (lower(email));
create index accounts_by_plan on accounts (plan_id);

-- An API key with its scopes, limits and budget. Revoked keys stay, because charges and tasks refer to them.
create table api_keys (
  id text not null,
  account_id text not null,
  name text not null,
  -- SHA-256 of the whole key: the key itself is never stored.
  hash bytea not null,
  last_four text not null,
  created_at timestamptz not null,
  revoked_at timestamptz,
  expires_at timestamptz,
  -- A null scope means no restriction; an empty list is rejected, because it reads like one.
  model_ids text[],
  endpoints text[],
  addresses text[],
  budget_nano bigint,
  budget_period text,
  requests_per_minute integer,
  tokens_per_minute integer,
  concurrent_requests integer,
  tasks_in_flight integer,
  -- The console acts for its account with a key of its own, whose text is never given out.
  is_console boolean not null default false,
  -- The first key of a rotation. `key_spending` counts by it, so a replaced key keeps its budget.
  lineage_id text not null,
  -- Whether the content log stores the bodies of this key's calls.
  logs_content boolean not null default false,
  constraint api_keys_id_unique primary key (id),
  constraint api_keys_account_exists foreign key (account_id) references accounts (id),
  constraint api_keys_lineage_exists foreign key (lineage_id) references api_keys (id),
  constraint api_keys_hash_unique unique (hash),
  constraint api_keys_id_valid check (id like 'key\_%'),
  constraint api_keys_hash_valid check (octet_length(hash) = 32),
  constraint api_keys_name_valid check (length(name) between 1 and 100),
  constraint api_keys_scopes_valid check (
    cardinality(model_ids) > 0 and cardinality(endpoints) > 0 and cardinality(addresses) > 0
  ),
  constraint api_keys_budget_valid check (budget_nano >= 0),
  constraint api_keys_budget_period_valid check (
    (budget_nano is null) = (budget_period is null) and budget_period in ('total', 'day', 'week', 'month')
  ),
  constraint api_keys_limits_valid check (
    requests_per_minute > 0 and tokens_per_minute > 0 and concurrent_requests > 0 and tasks_in_flight > 0
  )
);

create index api_keys_by_account on api_keys (account_id, id);
create index api_keys_by_lineage on api_keys (lineage_id);
create unique index api_keys_one_console on api_keys (account_id) where is_console;
-- A program that was authorized in the browser has one active key, named `BA:<client>`.
create unique index api_keys_one_for_each_client on api_keys (account_id, name)
  where name like 'BA:%' and revoked_at is null;

-- When a key was used, to the minute. Not in api_keys: an update there makes every node drop the account's cached keys.
create table api_key_uses (
  key_id text not null,
  first_used_at timestamptz not null,
  last_used_at timestamptz not null,
  constraint api_key_uses_unique primary key (key_id),
  constraint api_key_uses_key_exists foreign key (key_id) references api_keys (id)
);

-- Money operations by operators: who did what, and why.
create table operator_actions (
  id text not null,
  actor text not null,
  action text not null,
  reason text not null,
  created_at timestamptz not null,
  constraint operator_actions_id_unique primary key (id),
  constraint operator_actions_id_valid check (id like 'act\_%'),
  constraint operator_actions_words_valid check (length(actor) between 1 and 200 and length(reason) between 1 and 500)
);

create trigger operator_actions_final before update or delete on operator_actions
  for each row execute function refuse_change();

create function keep_key_lineage() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    -- A key that replaces no other starts its own lineage.
    new.lineage_id = coalesce(new.lineage_id, new.id);
  elsif new.lineage_id is distinct from old.lineage_id then
    raise check_violation using constraint = 'api_keys_lineage_final', table = 'api_keys',
      message = 'the lineage of a key never changes';
  end if;
  return new;
end $$;

create trigger api_keys_lineage before insert or update on api_keys for each row execute function keep_key_lineage();

-- Invalidates cached keys on every node: those of one account, or all of them (empty payload).
create function notify_caller_change() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'api_keys' then
    perform pg_notify('callers', new.account_id);
  elsif tg_table_name = 'accounts' then
    perform pg_notify('callers', new.id);
  else
    perform pg_notify('callers', '');
  end if;
  return null;
end $$;

create trigger api_keys_changed after insert or update on api_keys
  for each row execute function notify_caller_change();
create trigger accounts_changed after update on accounts
  for each row execute function notify_caller_change();
create trigger plans_changed after update on plans
  for each row execute function notify_caller_change();

----------------------------------------------------------------------------------------------------------------------
-- People and sign-in
----------------------------------------------------------------------------------------------------------------------

-- A person who signs in to the console. An account has one.
create table users (
  id text not null,
  account_id text not null,
  email text not null,
  name text,
  -- PHC string (argon2id); null for people who sign in another way.
  password_hash text,
  -- Null until the person has opened a link that was mailed to the address.
  email_verified_at timestamptz,
  is_operator boolean not null default false,
  -- Sealed with a key that is not in the database. `totp_secret_waiting` is not in force until its first code arrives.
  totp_secret bytea,
  totp_secret_waiting bytea,
  -- The time step of the last accepted code: each code works once.
  totp_last_step bigint,
  created_at timestamptz not null,
  constraint users_id_unique primary key (id),
  constraint users_id_valid check (id like 'user\_%'),
  constraint users_account_unique unique (account_id),
  constraint users_account_exists foreign key (account_id) references accounts (id),
  constraint users_email_valid check (email like '%_@_%' and length(email) <= 254),
  constraint users_password_hash_valid check (password_hash like '$argon2id$%')
);

create unique index users_email_unique on users (lower(email));

-- A browser that is signed in.
create table user_sessions (
  id text not null,
  user_id text not null,
  -- SHA-256 of the cookie's value.
  token_hash bytea not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  -- Sensitive actions need no password or second factor until then.
  fresh_until timestamptz not null,
  user_agent text not null,
  address text not null,
  -- The token before a re-authentication. Accepted for a few seconds, without freshness, for requests of other tabs.
  previous_token_hash bytea,
  previous_token_until timestamptz,
  constraint user_sessions_id_unique primary key (id),
  constraint user_sessions_id_valid check (id like 'ses\_%'),
  constraint user_sessions_token_unique unique (token_hash),
  constraint user_sessions_user_exists foreign key (user_id) references users (id) on delete cascade,
  constraint user_sessions_previous_token_whole check ((previous_token_hash is null) = (previous_token_until is null))
);

create index user_sessions_by_user on user_sessions (user_id);
create index user_sessions_by_last_seen on user_sessions (last_seen_at);
create unique index user_sessions_previous_token_unique on user_sessions (previous_token_hash);

-- Closes the session's open connections on every node.
create function notify_session_end() returns trigger language plpgsql as $$
begin
  perform pg_notify('sessions', old.id);
  return null;
end
$$;

create trigger user_sessions_ended after delete on user_sessions
  for each row execute function notify_session_end();

-- A single-use secret: a mailed link, or a sign-in between its steps.
create table user_tokens (
  -- SHA-256 of the link's or cookie's secret.
  hash bytea not null,
  kind text not null,
  -- The recipient: an address in lower case, or a user.
  email text,
  user_id text,
  details jsonb not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint user_tokens_hash_unique primary key (hash),
  constraint user_tokens_kind_valid check (kind in ('sign-up', 'invite', 'reset-password', 'second-factor', 'passkey', 'provider')),
  constraint user_tokens_user_exists foreign key (user_id) references users (id) on delete cascade
);

create index user_tokens_by_email on user_tokens (email, kind) where email is not null;
create index user_tokens_by_user on user_tokens (user_id, kind) where user_id is not null;
create index user_tokens_by_expiry on user_tokens (expires_at);

-- An unused backup code for the second factor.
create table user_backup_codes (
  user_id text not null,
  -- HMAC with a key that is not in the database: codes are short enough to brute-force a plain hash.
  code_hash bytea not null,
  constraint user_backup_codes_unique primary key (user_id, code_hash),
  constraint user_backup_codes_user_exists foreign key (user_id) references users (id) on delete cascade
);

-- A WebAuthn credential.
create table user_passkeys (
  id text not null,
  user_id text not null,
  -- The authenticator's credential id, in base64url.
  credential_id text not null,
  public_key bytea not null,
  sign_count bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  constraint user_passkeys_id_unique primary key (id),
  constraint user_passkeys_id_valid check (id like 'passkey\_%'),
  constraint user_passkeys_credential_unique unique (credential_id),
  constraint user_passkeys_user_exists foreign key (user_id) references users (id) on delete cascade
);

create index user_passkeys_by_user on user_passkeys (user_id);

-- A user's identity at an OpenID Connect provider.
create table user_identities (
  provider_id text not null,
  subject text not null,
  user_id text not null,
  created_at timestamptz not null,
  constraint user_identities_unique primary key (provider_id, subject),
  constraint user_identities_one_for_each_provider unique (user_id, provider_id),
  constraint user_identities_user_exists foreign key (user_id) references users (id) on delete cascade
);

-- A program that asks a person for a key: through a browser on the same computer, or by a device code.
create table connect_requests (
  -- Random, but not secret: the first session that opens a request owns it.
  id text not null,
  kind text not null,
  client text not null,
  state text not null,
  redirect_uri text,
  -- The program's own `state`, URL-encoded as it is sent back.
  client_state text,
  -- PKCE: SHA-256 of the verifier, in base64url. Null for programs that receive the key directly.
  code_challenge text,
  user_code text,
  polled_at timestamptz,
  poll_seconds integer,
  -- SHA-256 of what the program exchanges for its key: the code after approval, or the device code from the start.
  secret_hash bytea,
  session_id text,
  user_id text,
  account_id text,
  -- The limits that the person set for the key.
  key_days integer,
  budget_nano bigint,
  key_id text,
  created_at timestamptz not null,
  -- The person has until then to answer, and after that the program to fetch the key.
  expires_at timestamptz not null,
  -- Of a device, for the consent page; null for browsers on the same computer.
  client_address text,
  client_user_agent text,
  constraint connect_requests_id_unique primary key (id),
  constraint connect_requests_user_code_unique unique (user_code),
  constraint connect_requests_secret_unique unique (secret_hash),
  constraint connect_requests_account_exists foreign key (account_id) references accounts (id),
  constraint connect_requests_client_valid check (client ~ '^[A-Za-z0-9._-]{2,64}$'),
  constraint connect_requests_kind_valid check (
    case kind
      when 'browser' then num_nulls(redirect_uri, client_state) = 0
        and num_nonnulls(user_code, polled_at, poll_seconds) = 0
      when 'device' then num_nulls(user_code, poll_seconds, secret_hash, client_address, client_user_agent) = 0
        and num_nonnulls(redirect_uri, client_state, code_challenge) = 0
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

-- Mailboxes that have received the welcome credit, as hashes. Each gets it once, however its address is spelled.
create table welcomed_mailboxes (
  mailbox_hash bytea not null,
  welcomed_at timestamptz not null,
  constraint welcomed_mailboxes_unique primary key (mailbox_hash)
);

----------------------------------------------------------------------------------------------------------------------
-- Catalog
----------------------------------------------------------------------------------------------------------------------

-- Each catalog that an operator applied, whole. The newest one is in force.
create table catalog_versions (
  number integer not null,
  currency text not null,
  -- Secrets are stored as names of environment variables.
  providers json not null,
  models json not null,
  applied_at timestamptz not null,
  constraint catalog_versions_number_unique primary key (number),
  constraint catalog_versions_number_valid check (number > 0),
  constraint catalog_versions_currency_valid check (currency ~ '^[A-Z]{3}$')
);

-- A version of a price: for everybody, for a plan, or for one account.
create table prices (
  id text not null,
  model_id text not null,
  capability text,
  plan_id text,
  account_id text,
  billing_type text not null,
  unit text not null,
  -- Per call or per second; the others per million tokens.
  price_nano bigint,
  input_price_nano bigint,
  output_price_nano bigint,
  cached_input_price_nano bigint,
  minimum_charge_nano bigint not null,
  effective_at timestamptz not null,
  created_at timestamptz not null,
  -- Null means that these tokens cost as much as other input or output.
  cache_write_5m_price_nano bigint,
  cache_write_1h_price_nano bigint,
  audio_input_price_nano bigint,
  reasoning_price_nano bigint,
  audio_output_price_nano bigint,
  constraint prices_id_unique primary key (id),
  constraint prices_id_valid check (id like 'price\_%'),
  constraint prices_plan_exists foreign key (plan_id) references plans (id),
  constraint prices_account_exists foreign key (account_id) references accounts (id),
  constraint prices_scope_valid check (plan_id is null or account_id is null),
  -- A check passes when it evaluates to null, so required columns are tested explicitly.
  constraint prices_amounts_complete check (
    case billing_type
      when 'token' then price_nano is null and num_nulls(input_price_nano, output_price_nano) = 0
      when 'per_call' then price_nano is not null and num_nonnulls(
        input_price_nano, output_price_nano, cached_input_price_nano, cache_write_5m_price_nano, cache_write_1h_price_nano,
        audio_input_price_nano, reasoning_price_nano, audio_output_price_nano) = 0
      when 'duration' then price_nano is not null and num_nonnulls(
        input_price_nano, output_price_nano, cached_input_price_nano, cache_write_5m_price_nano, cache_write_1h_price_nano,
        audio_input_price_nano, reasoning_price_nano, audio_output_price_nano) = 0
      else false
    end
  ),
  constraint prices_amounts_positive check (
    price_nano >= 0 and input_price_nano >= 0 and output_price_nano >= 0 and cached_input_price_nano >= 0
    and cache_write_5m_price_nano >= 0 and cache_write_1h_price_nano >= 0 and audio_input_price_nano >= 0
    and reasoning_price_nano >= 0 and audio_output_price_nano >= 0 and minimum_charge_nano >= 0
  )
);

-- Which prices a catalog version contains, in its order.
create table catalog_prices (
  catalog_version integer not null,
  position integer not null,
  price_id text not null,
  constraint catalog_prices_unique primary key (catalog_version, position),
  constraint catalog_prices_version_exists foreign key (catalog_version) references catalog_versions (number),
  constraint catalog_prices_price_exists foreign key (price_id) references prices (id)
);

create trigger prices_final before update or delete on prices
  for each row execute function refuse_change();
create trigger catalog_versions_final before update or delete on catalog_versions
  for each row execute function refuse_change();
create trigger catalog_prices_final before update or delete on catalog_prices
  for each row execute function refuse_change();

-- Makes every node load the new version.
create function notify_catalog_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('catalog', new.number::text);
  return null;
end $$;

create trigger catalog_changed after insert on catalog_versions
  for each row execute function notify_catalog_change();

-- Circuits that are not closed, as each node last reported them. Shown to operators; routing never reads it.
create table upstream_health (
  node_id text not null,
  provider_id text not null,
  -- Empty when the row is about all models of the key.
  upstream_model text not null,
  key_number integer not null,
  state text not null,
  failures integer not null,
  last_failure text not null,
  open_until timestamptz not null,
  reported_at timestamptz not null,
  constraint upstream_health_unique primary key (node_id, provider_id, upstream_model, key_number),
  constraint upstream_health_state_valid check (state in ('open', 'half-open', 'degraded'))
);

----------------------------------------------------------------------------------------------------------------------
-- Ledger
----------------------------------------------------------------------------------------------------------------------

-- The currency of every amount below: one row, written before the first posting.
create table ledger_currencies (
  currency text not null,
  only_one boolean not null default true,
  constraint ledger_currencies_one_row primary key (only_one),
  constraint ledger_currencies_only_one check (only_one),
  constraint ledger_currencies_valid check (currency ~ '^[A-Z]{3}$')
);

-- One row per account: the lock for all its money, and the version of its state.
create table wallets (
  account_id text not null,
  -- Counts all writes.
  version bigint not null default 0,
  changed_at timestamptz not null default now(),
  -- Set when a broken invariant was found: the account cannot spend until an operator unfreezes it.
  frozen_at timestamptz,
  frozen_reason text,
  -- The writes that only changed amounts. `version - plain_writes` is the wallet's shape: a decision made on another version
  -- of the same shape can still be applied as a difference, if the money suffices.
  plain_writes bigint not null default 0,
  -- A reserve: money that one process may count on before it writes its holds. Other writers leave it until the lease ends.
  -- A revoked reserve is not renewed.
  reserved bigint not null default 0,
  reserved_by text,
  reserved_until timestamptz not null default '-infinity',
  reserve_revoked boolean not null default false,
  constraint wallets_account_unique primary key (account_id),
  constraint wallets_account_exists foreign key (account_id) references accounts (id),
  constraint wallets_reserved_valid check (reserved >= 0)
) with (fillfactor = 50);

-- A trigger, because a table's check would run in every hold and settlement.
create function check_wallet_freeze() returns trigger language plpgsql as $$
begin
  if (new.frozen_at is null) = (new.frozen_reason is null) then return new; end if;
  raise check_violation using constraint = 'wallets_frozen_complete', table = 'wallets',
    message = 'a frozen wallet needs a time and a reason', detail = to_json(new)::text;
end $$;

create trigger wallets_frozen_complete before insert or update of frozen_at, frozen_reason on wallets
  for each row execute function check_wallet_freeze();

create function create_wallet() returns trigger language plpgsql as $$
begin
  insert into wallets (account_id) values (new.id);
  return null;
end $$;

create trigger accounts_have_wallets after insert on accounts
  for each row execute function create_wallet();

-- A credit bucket: an account's cash, one gift, or one quota of a plan period.
create table buckets (
  id text not null,
  account_id text not null,
  kind text not null,
  unit text not null,
  expires_at timestamptz,
  posted bigint not null,
  held bigint not null,
  entry_count bigint not null,
  -- False once a gift or quota is used up; closed buckets are not read again.
  is_open boolean not null,
  opened_at timestamptz not null,
  constraint buckets_id_unique primary key (id),
  constraint buckets_cash_stays check (kind <> 'cash' or expires_at is null),
  constraint buckets_never_overdrawn check (held >= 0 and posted >= held),
  constraint buckets_closed_empty check (is_open or posted = 0)
) with (fillfactor = 50);

create index buckets_by_account on buckets (account_id);
create index buckets_open_by_account on buckets (account_id) where is_open;
create index buckets_open_by_expiry on buckets (expires_at) where is_open and expires_at is not null;

-- A trigger on columns that never change: PostgreSQL parses a table's checks again for every statement.
create function check_bucket_kind() returns trigger language plpgsql as $$
begin
  if new.id like 'bkt\_%' and (case new.kind
      when 'cash' then new.unit = 'money' and new.id = 'bkt_' || substr(new.account_id, 6)
      when 'gift' then new.unit = 'money'
      when 'quota' then new.unit in ('text', 'image', 'video')
      else false
    end)
  then return new; end if;
  raise check_violation using constraint = 'buckets_kind_valid', table = 'buckets',
    message = 'invalid bucket', detail = to_json(new)::text;
end $$;

create trigger buckets_kind_valid before insert or update of id, account_id, kind, unit on buckets
  for each row execute function check_bucket_kind();

-- Money authorized for unfinished work, and how the work ended. Refusals are stored too, so that a repeated id gets the same
-- result; they are deleted a day later.
create table holds (
  id text not null,
  account_id text not null,
  unit text not null,
  amount bigint not null,
  -- How much is held in which bucket.
  bucket_ids text[] not null,
  bucket_amounts bigint[] not null,
  state text not null,
  settled bigint not null,
  refusal text,
  -- How much was missing when the hold was refused.
  missing bigint,
  -- Of the request, and of the settlement: a repeat with other contents is an error.
  fingerprint text not null,
  settlement_fingerprint text,
  key_id text,
  -- The start of the budget period that the hold counts in.
  budget_starts_at timestamptz,
  cause_kind text not null,
  cause_id text not null,
  expires_at timestamptz not null,
  opened_at timestamptz not null,
  resolved_at timestamptz,
  constraint holds_id_unique primary key (id),
  constraint holds_id_valid check (id like 'hold\_%'),
  constraint holds_unit_valid check (unit in ('money', 'text', 'image', 'video')),
  constraint holds_lines_complete check (cardinality(bucket_ids) = cardinality(bucket_amounts)),
  constraint holds_amount_positive check (amount > 0),
  constraint holds_settled_within check (settled between 0 and amount),
  constraint holds_budget_has_key check (budget_starts_at is null or key_id is not null),
  constraint holds_refusal_complete
    check ((state = 'refused') = (refusal is not null) and (refusal is null) = (missing is null))
) with (fillfactor = 80);

create index holds_open_by_expiry on holds (expires_at) where state = 'open';
create index holds_open_by_account on holds (account_id) where state = 'open';
create index holds_refused_by_end on holds (resolved_at) where state = 'refused';

-- A trigger instead of a check: as a check it costs a single call several per cent of the server's time
-- (docs/decisions/0023-checks-of-the-money-tables.md).
create function check_hold() returns trigger language plpgsql as $$
declare
  is_valid boolean;
begin
  -- plpgsql prepares a condition when it first runs, so each state only pays for its own.
  if new.state = 'open' then
    is_valid = new.resolved_at is null and new.settled = 0 and cardinality(new.bucket_ids) > 0;
  elsif new.state = 'settled' then
    is_valid = new.resolved_at is not null and new.settlement_fingerprint is not null;
  elsif new.state in ('released', 'expired') then
    is_valid = new.resolved_at is not null and new.settled = 0;
  elsif new.state = 'refused' then
    is_valid = new.resolved_at is not null and new.settled = 0 and cardinality(new.bucket_ids) = 0;
  else
    is_valid = false;
  end if;
  if is_valid then return new; end if;
  raise check_violation using constraint = 'holds_state_valid', table = 'holds',
    message = 'invalid hold', detail = to_json(new)::text;
end $$;

create trigger holds_state_valid before insert or update on holds for each row execute function check_hold();

-- Every movement of money or quota, both sides in one row, forever. A bucket is a liability: a credit raises it.
create table postings (
  -- In commit order within an account.
  number bigint generated always as identity,
  id text not null,
  leg smallint not null,
  account_id text not null,
  kind text not null,
  unit text not null,
  debit text not null,
  credit text not null,
  amount bigint not null,
  -- The customer's side, its entry number and its balance afterwards; null for a loss.
  bucket_id text,
  entry_number bigint,
  balance_after bigint,
  -- The posting that a refund reverses.
  refund_of text,
  fingerprint text not null,
  cause_kind text not null,
  cause_id text not null,
  created_at timestamptz not null,
  constraint postings_id_unique primary key (id, leg),
  constraint postings_entry_unique unique (bucket_id, entry_number),
  constraint postings_amount_positive check (amount > 0),
  constraint postings_two_sides check (debit <> credit)
);

create index postings_by_account on postings (account_id, number);
create index postings_refunds on postings (refund_of) where refund_of is not null;

create function check_posting_kind() returns trigger language plpgsql as $$
begin
  if new.id like 'txn\_%'
    and (case
      when new.kind = 'loss' then new.bucket_id is null
      else num_nulls(new.bucket_id, new.entry_number, new.balance_after) = 0 and new.bucket_id in (new.debit, new.credit)
        and new.balance_after >= 0
    end)
    and (case new.kind
      when 'charge' then new.debit = new.bucket_id and new.credit = 'revenue'
      when 'loss' then new.debit = 'loss' and new.credit = 'revenue'
      when 'refund' then new.debit = 'revenue' and new.credit = new.bucket_id and new.refund_of is not null
      when 'top_up' then new.debit like 'funding:%' and new.credit = new.bucket_id
      when 'grant' then new.debit like 'funding:%' and new.credit = new.bucket_id
      when 'adjustment' then 'adjustments' in (new.debit, new.credit)
      when 'reversal' then (new.debit = new.bucket_id and new.credit like 'funding:%')
        or (new.credit = new.bucket_id and new.debit like 'funding:%')
      when 'expiry' then new.debit = new.bucket_id and new.credit = 'expired'
      else false
    end)
  then return new; end if;
  raise check_violation using constraint = 'postings_kind_valid', table = 'postings',
    message = 'invalid posting', detail = to_json(new)::text;
end $$;

create trigger postings_kind_valid before insert on postings for each row execute function check_posting_kind();
create trigger postings_final before update or delete on postings
  for each row execute function refuse_change();

-- What a settlement was for: the quantities and the rates, so that each amount can be computed again. Partitioned by month.
create table charges (
  -- The id of its postings.
  id text not null,
  hold_id text not null,
  account_id text not null,
  unit text not null,
  price_id text not null,
  item_names text[] not null,
  item_quantities bigint[] not null,
  item_rates_nano bigint[] not null,
  -- Each rate is for this many units.
  rates_per bigint not null,
  minimum_nano bigint not null,
  quota_units bigint not null,
  paid bigint not null,
  -- Used, but not covered by the balance.
  lost bigint not null,
  created_at timestamptz not null,
  key_id text,
  constraint charges_id_unique primary key (id),
  constraint charges_items_complete check (
    cardinality(item_names) = cardinality(item_quantities) and cardinality(item_names) = cardinality(item_rates_nano)
  ),
  constraint charges_amounts_valid
    check (rates_per > 0 and minimum_nano >= 0 and quota_units >= 0 and paid >= 0 and lost >= 0)
) partition by range (id);

create index charges_by_account on charges (account_id, created_at, id);

create trigger charges_final before update or delete on charges
  for each row execute function refuse_change();

-- What a key with a budget has spent and on hold, per budget period. `key_id` is the key's lineage.
create table key_spending (
  key_id text not null,
  starts_at timestamptz not null,
  account_id text not null,
  held bigint not null,
  spent bigint not null,
  constraint key_spending_unique primary key (key_id, starts_at),
  constraint key_spending_valid check (held >= 0 and spent >= 0)
) with (fillfactor = 50);

-- The periods of accounts' plans; each period has its own quota buckets.
create table plan_periods (
  id text not null,
  account_id text not null,
  plan_id text not null,
  plan_name text not null,
  -- When the account joined the plan. All periods are counted from there, so that none drifts.
  anchored_at timestamptz not null,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  -- False once another period followed, or the account left the plan.
  is_latest boolean not null,
  constraint plan_periods_id_unique primary key (id),
  constraint plan_periods_id_valid check (id like 'per\_%'),
  constraint plan_periods_length_valid check (ends_at >= starts_at)
);

create unique index plan_periods_one_latest on plan_periods (account_id) where is_latest;
create index plan_periods_latest_by_end on plan_periods (ends_at) where is_latest;

-- Credit that anyone with the code can redeem once.
create table redeem_codes (
  id text not null,
  -- SHA-256 of the code: the code itself is never stored.
  hash bytea not null,
  last_four text not null,
  kind text not null,
  amount_nano bigint not null,
  currency text not null,
  -- How long the gift lasts after it is redeemed.
  gift_days integer,
  note text not null,
  created_at timestamptz not null,
  -- The last moment to redeem it.
  expires_at timestamptz,
  voided_at timestamptz,
  redeemed_at timestamptz,
  redeemed_by text,
  constraint redeem_codes_id_unique primary key (id),
  constraint redeem_codes_id_valid check (id like 'code\_%'),
  constraint redeem_codes_hash_unique unique (hash),
  constraint redeem_codes_kind_valid check (kind in ('cash', 'gift') and (kind = 'gift' or gift_days is null)),
  constraint redeem_codes_amount_positive check (amount_nano > 0),
  constraint redeem_codes_gift_days_positive check (gift_days > 0),
  constraint redeem_codes_redeemed_complete check ((redeemed_at is null) = (redeemed_by is null)),
  constraint redeem_codes_ended_once check (voided_at is null or redeemed_at is null)
);

-- How far the periodic check of new postings has got, on any node, and where an interrupted full check resumes.
create table ledger_checks (
  checked_at timestamptz not null,
  checked_number bigint not null,
  -- Where the check before the last one ended: a posting gets its number before it is committed.
  previous_number bigint not null,
  only_one boolean not null default true,
  -- The account, unsealed account and hold where a full check resumes; null while none runs.
  whole_account_id text,
  whole_unsealed_id text,
  whole_hold_id text,
  constraint ledger_checks_one_row primary key (only_one),
  constraint ledger_checks_only_one check (only_one)
);

insert into ledger_checks (checked_at, checked_number, previous_number) values (now(), 0, 0);

-- Up to which posting `ledger verify` has checked an account, so that the next run only reads newer ones.
create table ledger_seals (
  account_id text not null,
  number bigint not null,
  -- At the same moment: while the wallet's version is the same, there is nothing new to check.
  wallet_version bigint not null,
  sealed_at timestamptz not null,
  constraint ledger_seals_unique primary key (account_id)
);

-- Sums of the sealed postings, by bucket, unit, key budget, reversed payment, and for all codes together. A manual change of a
-- balance shows up as a difference from them.
create table ledger_sealed_sums (
  account_id text not null,
  about text not null,
  name text not null,
  entries bigint not null,
  total bigint not null,
  constraint ledger_sealed_sums_unique primary key (account_id, about, name),
  constraint ledger_sealed_sums_about_valid check (about in ('bucket', 'unit', 'spending', 'reversal', 'code'))
);

----------------------------------------------------------------------------------------------------------------------
-- Usage
----------------------------------------------------------------------------------------------------------------------

-- Charges summed by half hour, account, key and price, so that a month of a busy account is a few thousand rows. Where a day
-- begins between two half hours, queries read the charges at its ends.
create table usage_rollups (
  account_id text not null,
  slot_at timestamptz not null,
  key_id text,
  price_id text not null,
  unit text not null,
  item_names text[] not null,
  calls bigint not null,
  paid bigint not null,
  -- Sums in the order of `item_names`; null beyond their number.
  quantities bigint[] not null,
  constraint usage_rollups_unique unique nulls not distinct (account_id, slot_at, key_id, price_id, unit, item_names)
-- Updates only change sums: with free space in the page they are HOT.
) with (fillfactor = 70);

create function add_quantities(kept bigint[], added bigint[]) returns bigint[] language sql immutable parallel safe
  return array[kept[1] + added[1], kept[2] + added[2], kept[3] + added[3], kept[4] + added[4],
    kept[5] + added[5], kept[6] + added[6], kept[7] + added[7], kept[8] + added[8]];

-- Never waits: every writer of an account's charges holds its wallet's lock.
create function roll_up_charges() returns trigger language plpgsql as $$
begin
  -- Fast path: a single charge needs no grouping.
  if (select count(*) from new_charges) = 1 then
    insert into usage_rollups as kept (account_id, slot_at, key_id, price_id, unit, item_names, calls, paid, quantities)
      select account_id, date_bin('30 minutes', created_at, 'epoch'), key_id, price_id, unit, item_names, 1, paid,
          item_quantities
        from new_charges
      on conflict (account_id, slot_at, key_id, price_id, unit, item_names) do update
        set calls = kept.calls + excluded.calls, paid = kept.paid + excluded.paid,
          quantities = add_quantities(kept.quantities, excluded.quantities);
  else
    insert into usage_rollups as kept (account_id, slot_at, key_id, price_id, unit, item_names, calls, paid, quantities)
      select account_id, date_bin('30 minutes', created_at, 'epoch'), key_id, price_id, unit, item_names, count(*), sum(paid),
          array[sum(item_quantities[1]), sum(item_quantities[2]), sum(item_quantities[3]), sum(item_quantities[4]),
            sum(item_quantities[5]), sum(item_quantities[6]), sum(item_quantities[7]), sum(item_quantities[8])]
        from new_charges
        group by 1, 2, 3, 4, 5, 6
      on conflict (account_id, slot_at, key_id, price_id, unit, item_names) do update
        set calls = kept.calls + excluded.calls, paid = kept.paid + excluded.paid,
          quantities = add_quantities(kept.quantities, excluded.quantities);
  end if;
  return null;
end $$;

create trigger charges_rolled_up after insert on charges referencing new table as new_charges
  for each statement execute function roll_up_charges();

----------------------------------------------------------------------------------------------------------------------
-- Paid calls: idempotency keys, and the functions that read and write the ledger
----------------------------------------------------------------------------------------------------------------------

-- Requests with an Idempotency-Key, and their responses, so that a repeat does nothing twice.
create table idempotency_keys (
  account_id text not null,
  key text not null,
  -- Of method, path and body: the same key with another one is an error.
  fingerprint bytea not null,
  -- The request that owns the key. A request that takes it over from a dead process writes its own id; if the first one wakes
  -- up, it finds the key taken.
  request_id text not null,
  hold_id text,
  state text not null,
  -- The owner's process counts as alive until then.
  lease_until timestamptz not null,
  status smallint,
  content_type text,
  -- Null if the response was too large to store.
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
-- Each row is updated once, when its request ends: room for a HOT update.
) with (fillfactor = 50);

create index idempotency_keys_by_expiry on idempotency_keys (expires_at);

-- Rows travel to the functions below as arrays of these types, because parsing JSON costs more.

-- A request that claims an Idempotency-Key.
create type new_claim as (
  account_id text,
  key text,
  fingerprint bytea,
  request_id text,
  hold_id text
);

-- The end of a claim, committed with the charge. Without a status the key becomes free again.
create type ended_claim as (
  account_id text,
  key text,
  request_id text,
  status smallint,
  content_type text,
  body bytea,
  summary text
);

-- `shape` if the decision holds for every version of that shape; see `wallets.plain_writes`.
create type ledger_decided_wallet as (
  account_id text,
  version bigint,
  shape bigint
);

create type ledger_opened_bucket as (
  id text,
  account_id text,
  kind text,
  unit text,
  expires_at timestamptz,
  posted bigint,
  held bigint,
  entry_count bigint,
  is_open boolean
);

-- The values after the batch, the values that the decision was made on, and the lowest available amount in between.
create type ledger_decided_bucket as (
  id text,
  posted bigint,
  held bigint,
  entry_count bigint,
  expires_at timestamptz,
  posted_before bigint,
  held_before bigint,
  entry_count_before bigint,
  least_available bigint
);

create type ledger_opened_hold as (
  id text,
  account_id text,
  unit text,
  amount bigint,
  bucket_ids text[],
  bucket_amounts bigint[],
  state text,
  settled bigint,
  refusal text,
  missing bigint,
  fingerprint text,
  settlement_fingerprint text,
  key_id text,
  budget_starts_at timestamptz,
  cause_kind text,
  cause_id text,
  expires_at timestamptz
);

-- The values after the batch, and the values that the decision was made on.
create type ledger_decided_hold as (
  id text,
  amount bigint,
  bucket_ids text[],
  bucket_amounts bigint[],
  state text,
  settled bigint,
  settlement_fingerprint text,
  expires_at timestamptz,
  amount_before bigint,
  expires_at_before timestamptz
);

create type ledger_new_posting as (
  id text,
  leg smallint,
  account_id text,
  kind text,
  unit text,
  debit text,
  credit text,
  amount bigint,
  bucket_id text,
  entry_number bigint,
  balance_after bigint,
  refund_of text,
  fingerprint text,
  cause_kind text,
  cause_id text
);

create type ledger_new_charge as (
  id text,
  hold_id text,
  account_id text,
  key_id text,
  unit text,
  price_id text,
  item_names text[],
  item_quantities bigint[],
  item_rates_nano bigint[],
  rates_per bigint,
  minimum_nano bigint,
  quota_units bigint,
  paid bigint,
  lost bigint
);

-- The values after the batch, the values that the decision was made on, the highest sum in between, and the budget.
create type ledger_decided_spending as (
  key_id text,
  starts_at timestamptz,
  account_id text,
  held bigint,
  spent bigint,
  held_before bigint,
  spent_before bigint,
  most_counted bigint,
  budget bigint
);

-- Without `lease_ms` the lease keeps its end.
create type ledger_decided_reserve as (
  account_id text,
  amount bigint,
  owner text,
  is_revoked boolean,
  lease_ms integer
);

-- Claims the keys that are free, and returns the requests that own theirs now.
create function claim_keys(
  new_claims new_claim[],
  claimed_at timestamptz,
  leased_until timestamptz,
  known_until timestamptz
) returns setof text language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  return query insert into idempotency_keys
      (account_id, key, fingerprint, request_id, hold_id, state, lease_until, created_at, expires_at)
    select claimed.account_id, claimed.key, claimed.fingerprint, claimed.request_id, claimed.hold_id, 'running',
      leased_until, claimed_at, known_until
    from unnest(new_claims) as claimed
    on conflict (account_id, key) do nothing
    returning idempotency_keys.request_id;
end $$;

-- Ends claims, locking the keys in their order: everywhere keys are locked before wallets. The owner may
-- store its response twice; a key that another request owns by now is not freed.
create function end_claims(ended_claims ended_claim[]) returns void language plpgsql
  -- Always look rows up by key, whatever planner settings the caller has.
  set enable_nestloop = on set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
  set plan_cache_mode = force_generic_plan as $$
declare
  kept_total integer;
begin
  if cardinality(ended_claims) > 1 then
    perform from idempotency_keys
      where (account_id, key) in (select account_id, key from unnest(ended_claims))
      order by account_id collate "C", key collate "C" for update;
  end if;
  update idempotency_keys
    set state = 'finished', status = ended.status, content_type = ended.content_type, body = ended.body,
      summary = ended.summary
    from unnest(ended_claims) as ended
    where idempotency_keys.account_id = ended.account_id and idempotency_keys.key = ended.key
      and idempotency_keys.request_id = ended.request_id and ended.status is not null;
  get diagnostics kept_total = row_count;
  if kept_total <> (select count(status) from unnest(ended_claims)) then
    raise exception 'another request owns the key' using errcode = 'SL002';
  end if;
  if kept_total < cardinality(ended_claims) then
    delete from idempotency_keys
      using unnest(ended_claims) as ended
      where idempotency_keys.account_id = ended.account_id and idempotency_keys.key = ended.key
        and idempotency_keys.request_id = ended.request_id and state = 'running' and ended.status is null;
  end if;
end $$;

-- Returns the rows that a batch needs, as of one moment: a stable function uses the snapshot of the calling query. Integers are
-- returned as text, because JSON numbers lose digits.
create function ledger_load(
  account_ids text[],
  named_bucket_ids text[],
  hold_ids text[],
  transaction_ids text[],
  key_ids text[],
  key_starts timestamptz[],
  out found_wallets json,
  out found_buckets json,
  out found_holds json,
  out found_postings json,
  out found_spending json
) language plpgsql stable
  -- Generic plans without sequential scans, here and in `ledger_commit`: statements name the ids they touch, and a plan that was
  -- made while a table was small must not scan it when it is large.
  set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  wanted_bucket_ids text[] = named_bucket_ids;
begin
  select json_agg(json_build_object('account_id', account_id, 'version', version::text, 'plain_writes', plain_writes::text,
      'reserve', case when reserved > 0 and reserved_until > clock_timestamp() then json_build_object(
        'amount', reserved::text, 'owner', reserved_by, 'is_revoked', reserve_revoked) end,
      'is_frozen', frozen_at is not null or exists (select from clawbacks where clawbacks.account_id = wallets.account_id
        and owed_nano > taken_nano + waived_nano))) into found_wallets
    from wallets where account_id = any (account_ids);
  if cardinality(hold_ids) > 0 then
    select json_agg(json_build_object('id', id, 'account_id', account_id, 'unit', unit, 'amount', amount::text,
        'bucket_ids', bucket_ids, 'bucket_amounts', bucket_amounts::text[], 'state', state, 'settled', settled::text,
        'refusal', refusal, 'missing', missing::text, 'fingerprint', fingerprint,
        'settlement_fingerprint', settlement_fingerprint, 'key_id', key_id,
        'budget_key_id', coalesce((select lineage_id from api_keys where api_keys.id = holds.key_id), key_id),
        'budget_starts_at', budget_starts_at, 'cause_kind', cause_kind, 'cause_id', cause_id, 'expires_at', expires_at,
        'opened_at', opened_at, 'resolved_at', resolved_at)) into found_holds
      from holds where id = any (hold_ids);
    if found_holds is not null then
      wanted_bucket_ids = wanted_bucket_ids || array(
        select unnest(bucket_ids) from holds where id = any (hold_ids) and resolved_at is null);
    end if;
  end if;
  if cardinality(transaction_ids) > 0 then
    select json_agg(json_build_object('id', id, 'account_id', account_id, 'kind', kind, 'unit', unit,
        'amount', amount::text, 'bucket_id', bucket_id, 'fingerprint', fingerprint,
        'refunded', (select coalesce(sum(amount), 0)::text from postings refund where refund.refund_of = posting.id))
        order by id, leg) into found_postings
      from postings posting where id = any (transaction_ids);
    if found_postings is not null then
      wanted_bucket_ids = wanted_bucket_ids || array(
        select bucket_id from postings where id = any (transaction_ids) and bucket_id is not null);
    end if;
  end if;
  select json_agg(json_build_object('id', id, 'account_id', account_id, 'kind', kind, 'unit', unit,
      'expires_at', expires_at, 'posted', posted::text, 'held', held::text, 'entry_count', entry_count::text,
      'is_open', is_open, 'opened_at', opened_at)) into found_buckets
    from buckets where (account_id = any (account_ids) and is_open) or id = any (wanted_bucket_ids);
  if cardinality(key_ids) > 0 or found_holds is not null then
    select json_agg(json_build_object('key_id', key_id, 'starts_at', starts_at, 'account_id', account_id,
        'held', held::text, 'spent', spent::text)) into found_spending
      from key_spending where (key_id, starts_at) in (
        select * from unnest(key_ids, key_starts)
        union select coalesce((select lineage_id from api_keys where api_keys.id = holds.key_id), key_id), budget_starts_at
          from holds where id = any (hold_ids) and key_id is not null);
  end if;
end $$;

-- Writes a batch if its decisions still hold, else raises SL001. Locks keys, then wallets, each in order, before anything else;
-- an account's other rows only change under its wallet's lock. If other writes came in between, it applies the differences and
-- returns the rows that they were added to.
create function ledger_commit(
  decided_at timestamptz,
  ended_claims ended_claim[],
  decided_wallets ledger_decided_wallet[],
  opened_buckets ledger_opened_bucket[],
  decided_buckets ledger_decided_bucket[],
  opened_holds ledger_opened_hold[],
  decided_holds ledger_decided_hold[],
  new_postings ledger_new_posting[],
  new_charges ledger_new_charge[],
  decided_spending ledger_decided_spending[],
  decided_reserves ledger_decided_reserve[]
) returns json language plpgsql
  set enable_seqscan = off set enable_nestloop = off set plan_cache_mode = force_generic_plan as $$
declare
  row_total integer;
  ids text[];
  has_moved boolean;
  -- Fast path: almost every batch changes one of each, which needs no join.
  only_wallet ledger_decided_wallet;
  only_bucket ledger_decided_bucket;
  only_hold ledger_decided_hold;
  one_reserve ledger_decided_reserve;
begin
  if ended_claims is not null then perform end_claims(ended_claims); end if;
  if cardinality(decided_wallets) = 1 then
    only_wallet = decided_wallets[1];
    update wallets
      set version = version + 1, plain_writes = plain_writes + (only_wallet.shape is not null)::integer,
        changed_at = clock_timestamp()
      where account_id = only_wallet.account_id
        and (version = only_wallet.version or version - plain_writes = only_wallet.shape)
      returning version <> only_wallet.version + 1 into has_moved;
    get diagnostics row_total = row_count;
  else
    ids = array(select account_id from unnest(decided_wallets));
    select count(*), bool_or(locked.version <> decided.version) into row_total, has_moved
      from unnest(decided_wallets) as decided
      join (select account_id, version, plain_writes from wallets where account_id = any (ids) order by account_id for update)
        as locked using (account_id)
      where locked.version = decided.version or locked.version - locked.plain_writes = decided.shape;
    update wallets
      set version = wallets.version + 1, plain_writes = plain_writes + (decided.shape is not null)::integer,
        changed_at = clock_timestamp()
      from unnest(decided_wallets) as decided
      where wallets.account_id = decided.account_id and wallets.account_id = any (ids);
  end if;
  if row_total <> cardinality(decided_wallets) then
    raise exception 'a wallet has changed' using errcode = 'SL001';
  end if;
  if decided_reserves is not null then
    foreach one_reserve in array decided_reserves loop
      update wallets
        set reserved = one_reserve.amount, reserved_by = one_reserve.owner, reserve_revoked = one_reserve.is_revoked,
          reserved_until = coalesce(clock_timestamp() + one_reserve.lease_ms * interval '1 ms', reserved_until)
        where account_id = one_reserve.account_id;
    end loop;
  end if;
  if opened_buckets is not null then
    insert into buckets (id, account_id, kind, unit, expires_at, posted, held, entry_count, is_open, opened_at)
      select opened.*, decided_at from unnest(opened_buckets) as opened;
  end if;
  if cardinality(decided_buckets) = 1 then
    only_bucket = decided_buckets[1];
    update buckets
      set posted = posted + only_bucket.posted - only_bucket.posted_before,
        held = held + only_bucket.held - only_bucket.held_before,
        entry_count = entry_count + only_bucket.entry_count - only_bucket.entry_count_before,
        is_open = kind = 'cash' or posted + only_bucket.posted <> only_bucket.posted_before
          or held + only_bucket.held <> only_bucket.held_before,
        expires_at = only_bucket.expires_at
      where id = only_bucket.id;
    if not found then raise exception 'a bucket is missing'; end if;
  elsif decided_buckets is not null then
    ids = array(select id from unnest(decided_buckets));
    update buckets
      set posted = buckets.posted + decided.posted - decided.posted_before,
        held = buckets.held + decided.held - decided.held_before,
        entry_count = buckets.entry_count + decided.entry_count - decided.entry_count_before,
        is_open = kind = 'cash' or buckets.posted + decided.posted <> decided.posted_before
          or buckets.held + decided.held <> decided.held_before,
        expires_at = decided.expires_at
      from unnest(decided_buckets) as decided
      where buckets.id = decided.id and buckets.id = any (ids);
    get diagnostics row_total = row_count;
    if row_total <> cardinality(ids) then raise exception 'a bucket is missing'; end if;
  end if;
  if opened_holds is not null then
    insert into holds (id, account_id, unit, amount, bucket_ids, bucket_amounts, state, settled, refusal, missing,
        fingerprint, settlement_fingerprint, key_id, budget_starts_at, cause_kind, cause_id, expires_at, opened_at,
        resolved_at)
      select opened.*, decided_at, case when opened.state <> 'open' then decided_at end
      from unnest(opened_holds) as opened;
  end if;
  -- `resolved_at is null` rather than `state = 'open'`, which would use the index of open holds, full of dead entries.
  if cardinality(decided_holds) = 1 then
    only_hold = decided_holds[1];
    update holds
      set amount = only_hold.amount, bucket_ids = only_hold.bucket_ids, bucket_amounts = only_hold.bucket_amounts,
        state = only_hold.state, settled = only_hold.settled,
        settlement_fingerprint = only_hold.settlement_fingerprint, expires_at = only_hold.expires_at,
        resolved_at = case when only_hold.state <> 'open' then decided_at end
      where id = only_hold.id and resolved_at is null
        and amount = only_hold.amount_before and expires_at = only_hold.expires_at_before;
    if not found then raise exception 'a hold has changed' using errcode = 'SL001'; end if;
  elsif decided_holds is not null then
    ids = array(select id from unnest(decided_holds));
    update holds
      set amount = decided.amount, bucket_ids = decided.bucket_ids, bucket_amounts = decided.bucket_amounts,
        state = decided.state, settled = decided.settled, settlement_fingerprint = decided.settlement_fingerprint,
        expires_at = decided.expires_at, resolved_at = case when decided.state <> 'open' then decided_at end
      from unnest(decided_holds) as decided
      where holds.id = decided.id and holds.id = any (ids) and holds.resolved_at is null
        and holds.amount = decided.amount_before and holds.expires_at = decided.expires_at_before;
    get diagnostics row_total = row_count;
    if row_total <> cardinality(ids) then raise exception 'a hold has changed' using errcode = 'SL001'; end if;
  end if;
  if decided_spending is not null then
    update key_spending
      set held = key_spending.held + decided.held - decided.held_before,
        spent = key_spending.spent + decided.spent - decided.spent_before
      from unnest(decided_spending) as decided
      where key_spending.key_id = decided.key_id and key_spending.starts_at = decided.starts_at;
    get diagnostics row_total = row_count;
    -- The wallet's lock keeps other transactions from opening the period.
    if row_total < cardinality(decided_spending) then
      insert into key_spending (key_id, starts_at, account_id, held, spent)
        select key_id, starts_at, account_id, held, spent from unnest(decided_spending)
        on conflict (key_id, starts_at) do nothing;
    end if;
  end if;
  if new_charges is not null then
    insert into charges (id, hold_id, account_id, key_id, unit, price_id, item_names, item_quantities, item_rates_nano,
        rates_per, minimum_nano, quota_units, paid, lost, created_at)
      select charged.*, decided_at from unnest(new_charges) as charged;
  end if;
  if not has_moved then
    if new_postings is not null then
      -- unnest returns an array in its order, so the identity column numbers the postings in that order.
      insert into postings (id, leg, account_id, kind, unit, debit, credit, amount, bucket_id, entry_number,
          balance_after, refund_of, fingerprint, cause_kind, cause_id, created_at)
        select posted.*, decided_at from unnest(new_postings) as posted;
    end if;
    return null;
  end if;
  return ledger_commit_rebased(decided_at, decided_buckets, new_postings, decided_spending);
end $$;

-- The rest of a batch after concurrent writes: checks that the money and budgets still suffice, and numbers its postings after
-- theirs. Returns the buckets and the spending as they are now.
create function ledger_commit_rebased(
  decided_at timestamptz,
  decided_buckets ledger_decided_bucket[],
  new_postings ledger_new_posting[],
  decided_spending ledger_decided_spending[]
) returns json language plpgsql
  set enable_nestloop = on set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
  set plan_cache_mode = force_generic_plan as $$
declare
  found_buckets json;
  found_spending json;
begin
  if exists (
      select from unnest(decided_buckets) as decided join buckets using (id)
        where buckets.posted - buckets.held - (decided.posted - decided.held) + decided.least_available < 0)
    or exists (
      select from unnest(decided_spending) as decided join key_spending using (key_id, starts_at)
        where key_spending.held + key_spending.spent - (decided.held + decided.spent) + decided.most_counted
          > decided.budget)
  then
    raise exception 'a concurrent write took the money or the budget' using errcode = 'SL001';
  end if;
  insert into postings (id, leg, account_id, kind, unit, debit, credit, amount, bucket_id, entry_number, balance_after,
      refund_of, fingerprint, cause_kind, cause_id, created_at)
    select posted.id, leg, posted.account_id, posted.kind, posted.unit, debit, credit, amount, bucket_id,
      entry_number + coalesce(buckets.entry_count - decided.entry_count, 0),
      balance_after + coalesce(buckets.posted - decided.posted, 0),
      refund_of, fingerprint, cause_kind, cause_id, decided_at
    from unnest(new_postings) with ordinality as posted
      left join unnest(decided_buckets) as decided on decided.id = posted.bucket_id
      left join buckets on buckets.id = decided.id
    order by ordinality;
  select json_agg(json_build_object('id', id, 'posted', buckets.posted::text, 'held', buckets.held::text,
      'entry_count', buckets.entry_count::text, 'is_open', is_open)) into found_buckets
    from unnest(decided_buckets) as decided join buckets using (id);
  select json_agg(json_build_object('key_id', key_id, 'starts_at', starts_at, 'account_id', key_spending.account_id,
      'held', key_spending.held::text, 'spent', key_spending.spent::text)) into found_spending
    from unnest(decided_spending) as decided join key_spending using (key_id, starts_at);
  return json_build_object('buckets', found_buckets, 'spending', found_spending);
end $$;

----------------------------------------------------------------------------------------------------------------------
-- Payments
----------------------------------------------------------------------------------------------------------------------

-- A card payment. Written before the person is sent to Stripe; it alone determines how much is credited.
create table checkouts (
  id text not null,
  account_id text not null,
  amount_nano bigint not null,
  currency text not null,
  -- The same amount in Stripe's smallest unit.
  amount_minor bigint not null,
  state text not null,
  -- Stripe's ids, and the URL of the payment page.
  session_id text,
  session_url text,
  payment_id text,
  -- Why it failed or does not match, for the operator.
  note text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- When the person finished, if the money arrives later.
  completed_at timestamptz,
  polled_at timestamptz,
  ended_at timestamptz,
  refunded_minor bigint not null,
  disputed_at timestamptz,
  constraint checkouts_id_unique primary key (id),
  constraint checkouts_id_valid check (id like 'chk\_%'),
  constraint checkouts_account_exists foreign key (account_id) references accounts (id),
  constraint checkouts_session_unique unique (session_id),
  constraint checkouts_payment_unique unique (payment_id),
  constraint checkouts_amount_positive check (amount_nano > 0 and amount_minor > 0 and refunded_minor >= 0),
  constraint checkouts_currency_valid check (currency ~ '^[A-Z]{3}$'),
  constraint checkouts_state_valid check (
    case state
      when 'open' then ended_at is null
      when 'paid' then ended_at is not null
      when 'expired' then ended_at is not null
      when 'failed' then ended_at is not null and note is not null
      when 'mismatched' then ended_at is not null and note is not null
      else false
    end
  )
);

create index checkouts_by_account on checkouts (account_id, id);
create index checkouts_open on checkouts (created_at) where state = 'open';

-- Once money is credited, the checkout's state, account and amounts are final.
create function keep_paid_checkout() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and (new.state, new.account_id, new.amount_nano, new.amount_minor, new.currency)
    is not distinct from (old.state, old.account_id, old.amount_nano, old.amount_minor, old.currency)
  then return new; end if;
  raise check_violation using constraint = 'checkouts_paid_final', table = 'checkouts',
    message = 'a paid checkout cannot be changed or deleted';
end $$;

create trigger checkouts_paid_final before update or delete on checkouts
  for each row when (old.state = 'paid') execute function keep_paid_checkout();

-- A refund or dispute, as Stripe last reported it.
create table payment_reversals (
  id text not null,
  -- In the order of arrival: together, the reversals of a payment never take more than was credited.
  number bigint generated always as identity,
  checkout_id text not null,
  kind text not null,
  status text not null,
  amount_minor bigint not null,
  reason text,
  received_at timestamptz not null,
  changed_at timestamptz not null,
  constraint payment_reversals_id_unique primary key (id),
  constraint payment_reversals_checkout_exists foreign key (checkout_id) references checkouts (id),
  constraint payment_reversals_kind_valid check (kind in ('refund', 'dispute')),
  constraint payment_reversals_amount_valid check (amount_minor >= 0)
);

create index payment_reversals_by_checkout on payment_reversals (checkout_id, number);

-- What an account owes for one refund or dispute. The part that is neither taken nor waived is a debt, and blocks spending.
-- Only changed under the wallet's lock.
create table clawbacks (
  id text not null,
  account_id text not null,
  channel text not null,
  cause_kind text not null,
  cause_id text not null,
  owed_nano bigint not null,
  taken_nano bigint not null,
  waived_nano bigint not null,
  -- How many ledger movements it has made; their ids end in this number.
  step_count integer not null,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  constraint clawbacks_id_unique primary key (id),
  constraint clawbacks_account_exists foreign key (account_id) references accounts (id),
  constraint clawbacks_amounts_valid check (
    owed_nano >= 0 and taken_nano >= 0 and waived_nano >= 0 and taken_nano + waived_nano <= owed_nano and step_count >= 0
  )
);

create index clawbacks_by_cause on clawbacks (cause_id);
create index clawbacks_unpaid on clawbacks (account_id, created_at) where owed_nano > taken_nano + waived_nano;

-- Up to when Stripe's event list was read, to catch up on lost webhooks. One row.
create table stripe_progress (
  polled_until timestamptz not null,
  only_one boolean not null default true,
  constraint stripe_progress_one_row primary key (only_one),
  constraint stripe_progress_only_one check (only_one)
);

----------------------------------------------------------------------------------------------------------------------
-- Files
----------------------------------------------------------------------------------------------------------------------

-- An upload or a task's output. The row exists only while its bytes are stored, complete and checked.
create table files (
  id text not null,
  account_id text not null,
  purpose text not null,
  kind text not null,
  content_type text not null,
  bytes bigint not null,
  sha256 bytea not null,
  -- The owner's name for it; never used as a path.
  filename text not null,
  width integer,
  height integer,
  duration_ms bigint,
  storage_key text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- A task's output is not listed until the task is charged: a caller could take it and then cancel for free.
  is_withheld boolean not null default false,
  constraint files_id_unique primary key (id),
  constraint files_account_exists foreign key (account_id) references accounts (id),
  constraint files_storage_key_unique unique (storage_key),
  -- All but `generation` and `output` are OpenAI's names for uploads.
  constraint files_purpose_valid check (purpose in ('generation', 'vision', 'user_data', 'assistants', 'output')),
  constraint files_kind_valid check (kind in ('image', 'audio', 'video', 'document')),
  -- Documents are the stage results and subtitles of dramas; they cannot be uploaded.
  constraint files_document_valid check (
    kind <> 'document' or (purpose = 'output' and content_type in ('application/json', 'text/vtt'))),
  constraint files_bytes_valid check (bytes > 0),
  constraint files_sha256_valid check (octet_length(sha256) = 32),
  constraint files_filename_valid check (char_length(filename) between 1 and 255)
);

create index files_by_account on files (account_id, id desc);
create index files_by_expiry on files (expires_at);

-- Number and size of an account's uploads, changed in the transaction that adds or deletes one. Its lock makes quotas exact.
create table file_usages (
  account_id text not null,
  files bigint not null,
  bytes bigint not null,
  constraint file_usages_account_unique primary key (account_id),
  constraint file_usages_account_exists foreign key (account_id) references accounts (id),
  constraint file_usages_valid check (files >= 0 and bytes >= 0)
);

-- Stored bytes without a file: still being written, or to be deleted. A crash leaves its bytes listed here for the sweep.
create table unowned_bytes (
  storage_key text not null,
  -- The sweep may delete them from then on; for bytes being written, long after their writer timed out.
  due_at timestamptz not null,
  -- Deletion has begun: no file can use them any more.
  is_doomed boolean not null,
  constraint unowned_bytes_storage_key_unique primary key (storage_key)
);

create index unowned_bytes_by_due_time on unowned_bytes (due_at);

----------------------------------------------------------------------------------------------------------------------
-- Tasks
----------------------------------------------------------------------------------------------------------------------

-- Work that takes longer than a request: what was requested, what it costs, and the result. Partitioned by month.
create table tasks (
  id text not null,
  account_id text not null,
  key_id text not null,
  -- The composite task that this one is a step of.
  parent_id text,
  type text not null,
  model text not null,
  state text not null,
  -- The internal state, finer than `state`.
  phase text not null,
  progress smallint not null,
  -- Grows with every change that a caller can see.
  version integer not null,
  request jsonb not null,
  -- Files of the account and URLs that it starts from.
  inputs jsonb not null,
  -- The price when the task was created, and the most it may cost.
  terms jsonb not null,
  hold_id text,
  -- The ids of the files that it will create, so that a repeated step creates no second file.
  output_ids text[] not null,
  output jsonb not null,
  warnings jsonb not null,
  error jsonb,
  charge bigint not null,
  units bigint not null,
  metadata jsonb,
  callback_url text,
  request_id text not null,
  client_request_id text,
  -- Where it was submitted, and the upstream's id for it.
  target jsonb,
  provider_id text,
  handle jsonb,
  -- The targets that failed.
  tried jsonb not null,
  -- The provider whose concurrency limit it waits for.
  waits_for text,
  -- When the upstream lost the job.
  lost_at timestamptz,
  cancel_requested_at timestamptz,
  -- When the cancel was sent to the upstream.
  cancel_sent_at timestamptz,
  deadline_at timestamptz not null,
  created_at timestamptz not null,
  submitted_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  updated_at timestamptz not null,
  -- Of a composite task: each step with its state, its output and its child tasks.
  steps jsonb not null,
  -- W3C trace context of the request that created it; null when it is not traced.
  traceparent text,
  -- When `request` and `inputs` were erased at the end of their retention.
  prompt_erased_at timestamptz,
  constraint tasks_id_unique primary key (id),
  constraint tasks_id_valid check (id like 'task\_%'),
  constraint tasks_type_valid check (type in ('image', 'video', 'avatar', 'drama', 'speech')),
  constraint tasks_progress_valid check (progress between 0 and 100 and (progress = 100) = (state = 'succeeded')),
  constraint tasks_charge_valid check (charge >= 0 and units >= 0),
  constraint tasks_error_complete check ((state = 'failed') = (error is not null)),
  constraint tasks_state_valid check (
    case state
      when 'queued' then phase in ('ready', 'submitting', 'unknown', 'running') and finished_at is null
      when 'processing' then phase in ('ready', 'submitting', 'unknown', 'running') and finished_at is null
      when 'succeeded' then phase = 'ended' and finished_at is not null
      when 'failed' then phase = 'ended' and finished_at is not null
      when 'canceled' then phase = 'ended' and finished_at is not null
      when 'expired' then phase = 'ended' and finished_at is not null
      else false
    end
  )
) partition by range (id);

create index tasks_by_account on tasks (account_id, id);
create index tasks_by_parent on tasks (parent_id) where parent_id is not null;
create index tasks_ready_by_model on tasks (model, id) where phase = 'ready';
create index tasks_by_provider on tasks (provider_id) where phase in ('submitting', 'unknown', 'running');
create index tasks_waiting_by_provider on tasks (waits_for, id) where waits_for is not null;
create index tasks_by_hold on tasks (hold_id) where phase <> 'ended';
create index tasks_with_prompt on tasks (id) where prompt_erased_at is null;

-- A final task never changes, except that its prompt may be erased.
create function tasks_keep_final() returns trigger language plpgsql as $$
begin
  if old.prompt_erased_at is null and new.prompt_erased_at is not null
    and to_jsonb(new) - '{request,inputs,prompt_erased_at}'::text[] = to_jsonb(old) - '{request,inputs,prompt_erased_at}'::text[]
  then return new; end if;
  raise exception 'task % is % and cannot become %', old.id, old.state, new.state using errcode = 'check_violation';
end
$$;

create trigger tasks_final before update on tasks
  for each row when (old.phase = 'ended') execute function tasks_keep_final();
create trigger tasks_progress_grows before update on tasks
  for each row when (new.progress < old.progress) execute function tasks_keep_final();

-- The task queue: one narrow row per open task, updated by every poll.
create table task_leases (
  task_id text not null,
  -- When the task is due. A worker moves it to the end of its lease; if the worker dies, the task falls due again.
  next_poll_at timestamptz not null,
  -- Grows with every claim; a worker with an older token has lost the task.
  fencing_token integer not null,
  polls integer not null,
  constraint task_leases_task_unique primary key (task_id)
) with (fillfactor = 70);

create index task_leases_by_time on task_leases (next_poll_at);

-- The number of open tasks of an account or a key, for their limits.
create table task_counts (
  owner_id text not null,
  open_tasks integer not null,
  constraint task_counts_owner_unique primary key (owner_id),
  constraint task_counts_valid check (open_tasks >= 0)
) with (fillfactor = 50);

-- A client's own business ids: the same id in the same scope is always the same task.
create table task_orders (
  account_id text not null,
  client_business_id text not null,
  -- What the id is unique within, such as `video 3`.
  scope text not null,
  fingerprint bytea not null,
  task_id text not null,
  constraint task_orders_id_unique primary key (account_id, client_business_id, scope)
);

----------------------------------------------------------------------------------------------------------------------
-- Webhooks
----------------------------------------------------------------------------------------------------------------------

-- A URL that an account's events are sent to.
create table webhook_endpoints (
  id text not null,
  account_id text not null,
  url text not null,
  description text not null,
  -- Empty for all.
  event_types text[] not null,
  -- Sealed with a key derived from the deployment's secret: the database alone cannot sign.
  sealed_secret bytea not null,
  -- Signs too, until `previous_secret_until`.
  sealed_previous_secret bytea,
  previous_secret_until timestamptz,
  -- The first failure since the last success.
  failing_since timestamptz,
  disabled_at timestamptz,
  disabled_reason text,
  created_at timestamptz not null,
  constraint webhook_endpoints_id_unique primary key (id),
  constraint webhook_endpoints_account_exists foreign key (account_id) references accounts (id),
  -- An event is sent to each URL once, so a URL has one secret.
  constraint webhook_endpoints_url_unique unique (account_id, url),
  constraint webhook_endpoints_id_valid check (id like 'whe\_%'),
  constraint webhook_endpoints_url_valid check (length(url) between 1 and 2048),
  constraint webhook_endpoints_description_valid check (length(description) <= 500),
  constraint webhook_endpoints_event_types_valid check (cardinality(event_types) <= 20),
  constraint webhook_endpoints_previous_secret_valid check (num_nulls(sealed_previous_secret, previous_secret_until) in (0, 2)),
  constraint webhook_endpoints_disabled_valid check (
    case
      when disabled_at is null then disabled_reason is null
      else disabled_reason is not null and disabled_reason in ('owner', 'gone', 'failing')
    end
  )
);

-- Signs the events that are sent to a request's own callback_url.
create table account_webhook_secrets (
  account_id text not null,
  sealed_secret bytea not null,
  sealed_previous_secret bytea,
  previous_secret_until timestamptz,
  created_at timestamptz not null,
  constraint account_webhook_secrets_unique primary key (account_id),
  constraint account_webhook_secrets_account_exists foreign key (account_id) references accounts (id),
  constraint account_webhook_secrets_previous_secret_valid check (num_nulls(sealed_previous_secret, previous_secret_until) in (0, 2))
);

-- Accounts that poll GET /v1/events instead of receiving webhooks.
create table event_inboxes (
  account_id text not null,
  opened_at timestamptz not null,
  constraint event_inboxes_unique primary key (account_id),
  constraint event_inboxes_account_exists foreign key (account_id) references accounts (id)
);

-- A program that reads an account's events live: `webhooks listen`.
create table webhook_sessions (
  id text not null,
  account_id text not null,
  -- The key that opened it; the signing secret is derived from it.
  key_id text not null,
  -- The stream that reads it, or did last.
  reader_id text,
  started_at timestamptz not null,
  -- Counts as listening until then; extended while a stream is open.
  listening_until timestamptz not null,
  constraint webhook_sessions_id_unique primary key (id),
  constraint webhook_sessions_id_valid check (id like 'whs\_%')
);

create index webhook_sessions_by_account on webhook_sessions (account_id, listening_until);
create index webhook_sessions_by_time on webhook_sessions (listening_until);

-- The outbox: written in the transaction of the change that an event reports. Partitioned by month, as are the two below.
create table events (
  id text not null,
  account_id text not null,
  type text not null,
  -- `json` keeps the order of fields, and allows \u0000 in texts, which `jsonb` rejects.
  data json not null,
  created_at timestamptz not null,
  -- W3C trace context of the task's request.
  traceparent text,
  constraint events_id_unique primary key (id),
  constraint events_id_valid check (id like 'evt\_%')
) partition by range (id);

create index events_by_account on events (account_id, id);
create index events_by_task on events (account_id, (data ->> 'task_id'), id);

-- One event for one receiver. It is in the month of its event, so that both are dropped together and
-- `deliveries_pending_once` can be unique.
create table deliveries (
  id text not null,
  event_id text not null,
  account_id text not null,
  -- Null for a request's own callback_url.
  endpoint_id text,
  url text not null,
  -- Deliveries of a lane share a receiver: one endpoint, or all callbacks of an account to one host.
  lane text not null,
  state text not null,
  attempt_count smallint not null,
  -- When the next attempt is due; during an attempt, the end of its lease.
  due_at timestamptz,
  lease_id text,
  created_at timestamptz not null,
  constraint deliveries_id_unique primary key (id, event_id),
  constraint deliveries_id_valid check (id like 'dlv\_%'),
  constraint deliveries_state_valid check (
    case state
      when 'pending' then due_at is not null
      when 'succeeded' then num_nonnulls(due_at, lease_id) = 0
      when 'failed' then num_nonnulls(due_at, lease_id) = 0
      when 'dropped' then num_nonnulls(due_at, lease_id) = 0
      else false
    end
  )
) partition by range (event_id);

create index deliveries_by_lane on deliveries (lane, due_at) where state = 'pending';
-- Resending a pending delivery moves its due time instead of adding a second one.
create unique index deliveries_pending_once on deliveries (event_id, lane) where state = 'pending';
create index deliveries_by_event on deliveries (event_id, id);
create index deliveries_by_account on deliveries (account_id, id);
create index deliveries_by_endpoint on deliveries (endpoint_id, id) where endpoint_id is not null;

-- Every attempt and its outcome.
create table delivery_attempts (
  delivery_id text not null,
  number smallint not null,
  -- Two senders can make the same attempt if one was believed dead; both are logged.
  lease_id text not null,
  attempted_at timestamptz not null,
  duration_ms integer not null,
  status smallint,
  error text,
  answer text,
  constraint delivery_attempts_unique primary key (delivery_id, number, lease_id),
  constraint delivery_attempts_outcome_valid check (num_nulls(status, error) < 2)
) partition by range (delivery_id);

----------------------------------------------------------------------------------------------------------------------
-- Responses and conversations
----------------------------------------------------------------------------------------------------------------------

-- A stored response with the items of its own request; earlier items are found through `previous_id`.
create table responses (
  account_id text not null,
  id text not null,
  previous_id text,
  state text not null,
  -- JSON of the request's items, and of the response.
  input text not null,
  body text not null,
  -- Of both texts together.
  bytes integer not null,
  -- Item ids that came from the upstream; Sluice's own item ids contain the response's id.
  item_ids text[],
  -- The events so far of a streamed background response.
  events text,
  -- The process that runs a background response counts as alive until then.
  lease_until timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint responses_unique primary key (account_id, id),
  constraint responses_account_exists foreign key (account_id) references accounts (id),
  constraint responses_id_valid check (id like 'resp\_%'),
  constraint responses_state_valid check (
    case state
      when 'in_progress' then lease_until is not null
      when 'completed' then lease_until is null
      when 'incomplete' then lease_until is null
      when 'failed' then lease_until is null
      when 'cancelled' then lease_until is null
      else false
    end
  )
);

create index responses_by_expiry on responses (expires_at);
create index responses_by_previous on responses (account_id, previous_id) where previous_id is not null;
create index responses_by_item on responses using gin (item_ids) where item_ids is not null;
create index responses_by_lease on responses (lease_until) where lease_until is not null;

-- A conversation outlives its responses. Each use extends it; it expires with all its items.
create table conversations (
  account_id text not null,
  id text not null,
  -- The owner's metadata, as JSON.
  metadata text not null,
  item_count integer not null default 0,
  -- Of all its items.
  bytes bigint not null default 0,
  next_number bigint not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint conversations_unique primary key (account_id, id),
  constraint conversations_account_exists foreign key (account_id) references accounts (id),
  constraint conversations_id_valid check (id like 'conv\_%'),
  constraint conversations_sums_valid check (item_count >= 0 and bytes >= 0)
);

create index conversations_by_expiry on conversations (expires_at);

-- The items of a conversation, the caller's and the model's, in order.
create table conversation_items (
  account_id text not null,
  conversation_id text not null,
  number bigint not null,
  id text not null,
  -- JSON.
  item text not null,
  constraint conversation_items_unique primary key (account_id, conversation_id, number),
  constraint conversation_items_id_unique unique (account_id, conversation_id, id),
  constraint conversation_items_conversation_exists foreign key (account_id, conversation_id)
    references conversations (account_id, id) on delete cascade
);

-- Bytes of text that an account stores, kept by triggers so that a quota check need not sum up. Conversations use shard 0, whose
-- lock makes their quota exact; responses are spread over shards 1 to 8, because many are written at once.
create table stored_texts (
  account_id text not null,
  shard smallint not null,
  bytes bigint not null,
  constraint stored_texts_unique primary key (account_id, shard),
  constraint stored_texts_account_exists foreign key (account_id) references accounts (id)
);

create function count_stored_text(changed_account text, changed_shard integer, delta bigint) returns void
  language sql as $$
    insert into stored_texts (account_id, shard, bytes) values (changed_account, changed_shard, delta)
      on conflict (account_id, shard) do update set bytes = stored_texts.bytes + excluded.bytes
  $$;

create function count_conversation() returns trigger language plpgsql as $$
  declare
    delta bigint := coalesce(new.bytes + octet_length(new.metadata), 0) - coalesce(old.bytes + octet_length(old.metadata), 0);
  begin
    if delta <> 0 then perform count_stored_text(coalesce(new.account_id, old.account_id), 0, delta); end if;
    return null;
  end
$$;

create function count_response() returns trigger language plpgsql as $$
  declare
    delta bigint := coalesce(new.bytes + coalesce(octet_length(new.events), 0), 0)
      - coalesce(old.bytes + coalesce(octet_length(old.events), 0), 0);
  begin
    if delta <> 0 then
      perform count_stored_text(
        coalesce(new.account_id, old.account_id), 1 + (hashtext(coalesce(new.id, old.id)) & 7), delta);
    end if;
    return null;
  end
$$;

create trigger conversations_counted after insert or update of bytes, metadata or delete on conversations
  for each row execute function count_conversation();
create trigger responses_counted after insert or update of bytes, events or delete on responses
  for each row execute function count_response();

----------------------------------------------------------------------------------------------------------------------
-- Request log
----------------------------------------------------------------------------------------------------------------------

-- Every call of an account, whatever its outcome, written in batches after the response. The id starts with `created_at`, so it
-- determines the partition. Texts are compared by bytes (collate "C"), which makes the indexes cheaper to write.
create table requests (
  account_id text collate "C" not null,
  created_at timestamptz not null,
  id text collate "C" not null,
  key_id text collate "C" not null,
  client_request_id text collate "C",
  -- The API's name in the endpoint table; null if the path matched no endpoint.
  wire text collate "C",
  method text collate "C" not null,
  route text collate "C",
  model text collate "C",
  status smallint not null,
  error_code text collate "C",
  ending text collate "C" not null,
  duration_ms integer not null,
  first_token_ms integer,
  input_tokens integer,
  cached_input_tokens integer,
  cache_write_tokens integer,
  output_tokens integer,
  reasoning_tokens integer,
  audio_input_tokens integer,
  audio_output_tokens integer,
  charge_nano bigint,
  charge_id text collate "C",
  task_id text collate "C",
  user_agent text collate "C",
  is_replayed boolean not null,
  -- The upstream that responded or was tried last, and the attempts that failed before it, as JSON. Only operators see these
  -- two; null for calls that reached no upstream, or without failed attempts.
  upstream text collate "C",
  failed_attempts text,
  constraint requests_unique primary key (account_id, created_at, id),
  constraint requests_ending_valid check (ending in ('answered', 'refused', 'failed', 'hung_up', 'broken_off'))
) partition by range (created_at);

create index requests_by_model on requests (account_id, model, created_at) where model is not null;
create index requests_by_key on requests (account_id, key_id, created_at);
create index requests_by_status on requests (account_id, status, created_at) where status >= 400;
create index requests_by_error on requests (account_id, error_code, created_at) where error_code is not null;
create index requests_by_client_id on requests (account_id, client_request_id, created_at)
  where client_request_id is not null;
-- Most calls are chat, which a scan by time finds quickly.
create index requests_by_wire on requests (account_id, wire, created_at) where wire <> 'chat';

create table requests_default partition of requests default;

select make_partitions('requests', 'month', now(), now() + interval '1 month');

-- How many calls of an account are missing in the log, and from when to when: the queue was full, or the database unavailable.
create table request_gaps (
  account_id text not null,
  id text not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  lost integer not null,
  constraint request_gaps_unique primary key (account_id, id),
  constraint request_gaps_lost_positive check (lost > 0),
  constraint request_gaps_order check (to_at >= from_at)
);

create index request_gaps_by_end on request_gaps (to_at);

-- The content log: bodies of a call and its response, redacted, compressed, then sealed per account and request. One partition
-- per day, dropped whole.
create table request_contents (
  account_id text collate "C" not null,
  created_at timestamptz not null,
  id text collate "C" not null,
  -- `lost`: memory was full. `deleted`: by the account's own people.
  state text collate "C" not null,
  -- Stored uncompressed: sealed bytes do not compress.
  sealed bytea,
  constraint request_contents_unique primary key (account_id, created_at, id),
  constraint request_contents_state_valid check (state in ('kept', 'lost', 'deleted')),
  constraint request_contents_sealed_while_kept check ((state = 'kept') = (sealed is not null))
) partition by range (created_at);

alter table request_contents alter column sealed set storage external;

create table request_contents_default partition of request_contents default;

select make_partitions('request_contents', 'day', now(), now() + interval '2 days');

----------------------------------------------------------------------------------------------------------------------
-- Backups
----------------------------------------------------------------------------------------------------------------------

-- Whether this database serves, or is a restored copy that spends, sends and deletes nothing until an operator confirms it.
-- One row.
create table copy_states (
  is_only boolean not null default true,
  state text not null,
  restored_from text,
  restored_at timestamptz,
  confirmed_at timestamptz,
  constraint copy_states_one_row primary key (is_only),
  constraint copy_states_only_true check (is_only),
  constraint copy_states_state_valid check (state in ('live', 'restoring', 'unconfirmed'))
);

insert into copy_states (state) values ('live');

create function notify_copy_state() returns trigger language plpgsql as $$
begin
  perform pg_notify('copy_state', new.state);
  return null;
end
$$;

create trigger copy_states_changed after update on copy_states for each row execute function notify_copy_state();

-- Bytes of files that are not in the log archive yet. They are not deleted before: a point-in-time restore can bring their file
-- back.
create table unarchived_bytes (
  storage_key text not null,
  constraint unarchived_bytes_key_unique primary key (storage_key)
);

----------------------------------------------------------------------------------------------------------------------
-- Scheduled jobs
----------------------------------------------------------------------------------------------------------------------

-- Periodic jobs, each run by one node at a time. A row is created when a node starts.
create table scheduled_jobs (
  name text not null,
  schedule jsonb not null,
  due_at timestamptz not null,
  -- The end of the runner's lease; null while it does not run.
  leased_until timestamptz,
  -- Grows with every claim; a node with an older token has lost the run.
  fencing_token integer not null,
  constraint scheduled_jobs_name_unique primary key (name)
) with (fillfactor = 50);

----------------------------------------------------------------------------------------------------------------------
-- Partitions of charges, tasks, events, deliveries and their attempts
----------------------------------------------------------------------------------------------------------------------

-- A row is in the month of its partition key's id. `…_before` ends where this month begins.
do $$
declare
  monthly record;
  first_month timestamptz = date_trunc('month', now() at time zone 'UTC') at time zone 'UTC';
begin
  for monthly in
    select * from (values
      ('charges', 'txn', ''),
      ('tasks', 'task', 'with (fillfactor = 80)'),
      ('events', 'evt', ''),
      ('deliveries', 'evt', ''),
      ('delivery_attempts', 'dlv', '')
    ) as tables (name, key_prefix, options)
  loop
    execute format('create table %I partition of %I for values from (minvalue) to (%L) %s', monthly.name || '_before',
      monthly.name, least_id(monthly.key_prefix, first_month), monthly.options);
    execute format('create table %I partition of %I default %s', monthly.name || '_default', monthly.name, monthly.options);
  end loop;
end $$;

select make_months(now(), now() + interval '1 month');
