-- Who may use the operator side, and the keys of programs that use its API.

create table operators (
  user_id text collate "C" not null,
  role text not null,
  granted_by text not null,
  granted_at timestamptz not null,
  constraint operators_user_unique primary key (user_id),
  constraint operators_user_exists foreign key (user_id) references users (id) on delete cascade,
  constraint operators_role_valid check (role in ('operator', 'reader'))
);

-- `users.is_operator` stays for gateways of version 0.2, which only show it.
insert into operators (user_id, role, granted_by, granted_at)
  select id, 'operator', 'sluice', now() from users where is_operator;

create table admin_keys (
  id text collate "C" not null,
  name text not null,
  hash bytea not null,
  last_four text not null,
  access text not null,
  scopes text[] not null,
  created_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  revoked_by text,
  constraint admin_keys_id_unique primary key (id),
  constraint admin_keys_id_valid check (id like 'akey\_%'),
  constraint admin_keys_hash_unique unique (hash),
  constraint admin_keys_hash_valid check (octet_length(hash) = 32),
  constraint admin_keys_name_valid check (length(name) between 1 and 100),
  constraint admin_keys_access_valid check (access in ('read', 'write')),
  constraint admin_keys_scopes_valid check (cardinality(scopes) > 0),
  constraint admin_keys_revoked_complete check ((revoked_at is null) = (revoked_by is null))
);

-- Whether a passkey or a code opened or confirmed the session. A password, or a sign-in service alone, is one step.
alter table user_sessions add column is_two_step boolean not null default false;

-- Operators' notes about an account; never shown to its owner.
create table account_notes (
  id text collate "C" not null,
  account_id text collate "C" not null,
  author text not null,
  text text not null,
  created_at timestamptz not null,
  constraint account_notes_id_unique primary key (id),
  constraint account_notes_id_valid check (id like 'note\_%'),
  constraint account_notes_account_exists foreign key (account_id) references accounts (id),
  constraint account_notes_text_valid check (length(text) between 1 and 4000)
);

create index account_notes_by_account on account_notes (account_id, id);

-- A session in which an operator sees an account as its owner does, read-only.
create table account_views (
  id text collate "C" not null,
  account_id text collate "C" not null,
  operator_id text collate "C" not null,
  session_id text collate "C" not null,
  reason text not null,
  created_at timestamptz not null,
  ends_at timestamptz not null,
  constraint account_views_id_unique primary key (id),
  constraint account_views_id_valid check (id like 'view\_%'),
  constraint account_views_account_exists foreign key (account_id) references accounts (id),
  constraint account_views_reason_valid check (length(reason) between 1 and 500)
);

create index account_views_by_account on account_views (account_id, id);
create index account_views_by_session on account_views (session_id, ends_at);

alter table accounts add column closed_at timestamptz;
