create table accounts (
  id text not null,
  email text not null,
  -- PHC string (argon2id), or null for an account that cannot sign in with a password.
  password_hash text,
  created_at timestamptz not null,
  constraint accounts_id_unique primary key (id),
  constraint accounts_id_valid check (id like 'acct\_%'),
  constraint accounts_email_valid check (email like '%_@_%' and length(email) <= 254),
  constraint accounts_password_hash_valid check (password_hash like '$argon2id$%')
);

-- Addresses that differ only in case reach the same person.
create unique index accounts_email_unique on accounts (lower(email));

create table api_keys (
  id text not null,
  account_id text not null,
  name text not null,
  -- SHA-256 of the whole key: the key itself is never stored.
  hash bytea not null,
  -- What people see of it in a list.
  last_four text not null,
  created_at timestamptz not null,
  revoked_at timestamptz,
  constraint api_keys_id_unique primary key (id),
  constraint api_keys_account_exists foreign key (account_id) references accounts (id),
  constraint api_keys_hash_unique unique (hash),
  constraint api_keys_id_valid check (id like 'key\_%'),
  constraint api_keys_hash_valid check (octet_length(hash) = 32),
  constraint api_keys_name_valid check (length(name) between 1 and 100)
);

create index api_keys_by_account on api_keys (account_id, id);
