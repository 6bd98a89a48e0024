-- Written by `npm run generate` from the migrations; for reading, never run.

create table accounts (
  id text not null,
  email text not null,
  password_hash text,
  created_at timestamp with time zone not null,
  constraint accounts_email_valid CHECK (email ~~ '%_@_%'::text AND length(email) <= 254),
  constraint accounts_id_unique PRIMARY KEY (id),
  constraint accounts_id_valid CHECK (id ~~ 'acct\_%'::text),
  constraint accounts_password_hash_valid CHECK (password_hash ~~ '$argon2id$%'::text)
);

CREATE UNIQUE INDEX accounts_email_unique ON accounts USING btree (lower(email));

create table api_keys (
  id text not null,
  account_id text not null,
  name text not null,
  hash bytea not null,
  last_four text not null,
  created_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  constraint api_keys_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint api_keys_hash_unique UNIQUE (hash),
  constraint api_keys_hash_valid CHECK (octet_length(hash) = 32),
  constraint api_keys_id_unique PRIMARY KEY (id),
  constraint api_keys_id_valid CHECK (id ~~ 'key\_%'::text),
  constraint api_keys_name_valid CHECK (length(name) >= 1 AND length(name) <= 100)
);

CREATE INDEX api_keys_by_account ON api_keys USING btree (account_id, id);

create table models (
  id text not null,
  name text not null,
  type text not null,
  status text not null,
  logo text not null,
  description text not null,
  advantages text[] not null,
  scenarios text[] not null,
  capabilities text[] not null,
  created_at timestamp with time zone not null,
  constraint models_id_unique PRIMARY KEY (id),
  constraint models_id_valid CHECK (id ~ '^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$'::text),
  constraint models_status_valid CHECK (status = ANY (ARRAY['available'::text, 'degraded'::text, 'unavailable'::text, 'deprecated'::text])),
  constraint models_type_valid CHECK (type = ANY (ARRAY['chat'::text, 'image'::text, 'video'::text, 'avatar'::text, 'drama'::text, 'speech'::text]))
);

create table schema_migrations (
  number integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone not null default now(),
  constraint schema_migrations_pkey PRIMARY KEY (number)
);
