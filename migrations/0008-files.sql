-- Files: what was uploaded, and what tasks made. A row is there only while its bytes are, whole and checked.
create table files (
  id text not null,
  account_id text not null,
  purpose text not null,
  kind text not null,
  content_type text not null,
  bytes bigint not null,
  sha256 bytea not null,
  -- What its owner calls it; it names nothing of ours.
  filename text not null,
  width integer,
  height integer,
  duration_ms bigint,
  storage_key text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint files_id_unique primary key (id),
  constraint files_account_exists foreign key (account_id) references accounts (id),
  constraint files_storage_key_unique unique (storage_key),
  constraint files_purpose_valid check (purpose in ('generation', 'output')),
  constraint files_kind_valid check (kind in ('image', 'audio', 'video')),
  constraint files_bytes_valid check (bytes > 0),
  constraint files_sha256_valid check (octet_length(sha256) = 32),
  constraint files_filename_valid check (char_length(filename) between 1 and 255)
);

create index files_by_account on files (account_id, id desc);
create index files_by_expiry on files (expires_at);

-- What an account's uploads are together. Every insertion and removal of one changes it in the same transaction, so that
-- its lock makes quotas exact.
create table file_usages (
  account_id text not null,
  files bigint not null,
  bytes bigint not null,
  constraint file_usages_account_unique primary key (account_id),
  constraint file_usages_account_exists foreign key (account_id) references accounts (id),
  constraint file_usages_valid check (files >= 0 and bytes >= 0)
);

-- Bytes that belong to no file: not yet, because they are being written, or no longer. A crash at any moment leaves its
-- bytes named here, and whoever sweeps finds them.
create table unowned_bytes (
  storage_key text not null,
  -- When somebody may remove them; for those being written, long after their writer has given up.
  due_at timestamptz not null,
  -- Once somebody began to remove them, no file can get them any more.
  is_doomed boolean not null,
  constraint unowned_bytes_storage_key_unique primary key (storage_key)
);

create index unowned_bytes_by_due_time on unowned_bytes (due_at);
