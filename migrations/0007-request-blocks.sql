-- The request log in blocks: calls of one account that ended at about the same time, as one row. Gateways of version 0.2 still write
-- `requests` and `request_errors`; a job moves their rows here. The next version drops both tables.
create table request_blocks (
  account_id text collate "C" not null,
  -- Of the newest call. The oldest is at most an hour older.
  created_at timestamptz not null,
  id text collate "C" not null,
  first_at timestamptz not null,
  -- Without amendments: calls that were written again when their charge was known.
  calls integer not null,
  -- The values that occur in the block. Filters skip blocks without theirs.
  key_ids text[] collate "C" not null,
  wires text[] collate "C" not null,
  models text[] collate "C" not null,
  statuses integer[] not null,
  error_codes text[] collate "C" not null,
  client_id_hashes integer[] not null,
  -- One line per column, as in `request-block.ts`; compressed with Zstandard from 4 KiB on.
  body bytea not null,
  constraint request_blocks_unique primary key (account_id, created_at, id),
  constraint request_blocks_order check (first_at <= created_at),
  constraint request_blocks_calls_valid check (calls >= 0)
) partition by range (created_at);

-- Compressed already.
alter table request_blocks alter column body set storage external;

-- Almost free to write: blocks arrive in the order of time.
create index request_blocks_by_time on request_blocks using brin (created_at);

create table request_blocks_default partition of request_blocks default;

select make_partitions('request_blocks', 'month', now() - interval '1 month', now() + interval '1 month');
