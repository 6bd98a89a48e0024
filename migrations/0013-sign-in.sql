-- The people who sign in. For now an account has one of them.
create table users (
  id text not null,
  account_id text not null,
  email text not null,
  name text,
  -- PHC string (argon2id), or null for a person who signs in by other means.
  password_hash text,
  -- Since when we know that mail to the address reaches them; null while only an operator says so.
  email_verified_at timestamptz,
  -- For those who run the service.
  is_operator boolean not null default false,
  -- Sealed with a key that is not in the database; the one that waits for its first code is not in force yet.
  totp_secret bytea,
  totp_secret_waiting bytea,
  -- The time step of the last code: each counts once.
  totp_last_step bigint,
  created_at timestamptz not null,
  constraint users_id_unique primary key (id),
  constraint users_id_valid check (id like 'user\_%'),
  constraint users_account_unique unique (account_id),
  constraint users_account_exists foreign key (account_id) references accounts (id),
  constraint users_email_valid check (email like '%_@_%' and length(email) <= 254),
  constraint users_password_hash_valid check (password_hash like '$argon2id$%')
);

-- Addresses that differ only in case reach the same person.
create unique index users_email_unique on users (lower(email));

insert into users (id, account_id, email, password_hash, created_at)
  select 'user_' || substr(id, 6), id, email, password_hash, created_at from accounts;

alter table accounts drop column password_hash;

create table user_sessions (
  id text not null,
  user_id text not null,
  -- SHA-256 of what the cookie holds.
  token_hash bytea not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  -- Until when the person counts as having just proven who they are.
  fresh_until timestamptz not null,
  user_agent text not null,
  address text not null,
  constraint user_sessions_id_unique primary key (id),
  constraint user_sessions_id_valid check (id like 'ses\_%'),
  constraint user_sessions_token_unique unique (token_hash),
  constraint user_sessions_user_exists foreign key (user_id) references users (id) on delete cascade
);

create index user_sessions_by_user on user_sessions (user_id);
create index user_sessions_by_last_seen on user_sessions (last_seen_at);

-- What can be used once and for a while: links in mails, and sign-ins that are half done.
create table user_tokens (
  -- SHA-256 of what the link or cookie holds.
  hash bytea not null,
  kind text not null,
  -- Whom it is for: an address in lower case, or a person.
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

create table user_backup_codes (
  user_id text not null,
  -- HMAC of the code with a key that is not in the database: codes are short enough to be guessed from a plain hash.
  code_hash bytea not null,
  constraint user_backup_codes_unique primary key (user_id, code_hash),
  constraint user_backup_codes_user_exists foreign key (user_id) references users (id) on delete cascade
);

create table user_passkeys (
  id text not null,
  user_id text not null,
  -- What the authenticator calls the passkey, in base64url.
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

-- Who a person is to another service that signs people in.
create table user_identities (
  provider_id text not null,
  subject text not null,
  user_id text not null,
  created_at timestamptz not null,
  constraint user_identities_unique primary key (provider_id, subject),
  constraint user_identities_one_for_each_provider unique (user_id, provider_id),
  constraint user_identities_user_exists foreign key (user_id) references users (id) on delete cascade
);
