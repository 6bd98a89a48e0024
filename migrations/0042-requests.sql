-- Partitions of a table by time: one for each month or day, in UTC, named after it (`requests_202611`). Rows that no
-- partition was made for in time are in the table's default partition, and go over into theirs when it is made.
create function make_partitions(parent text, unit text, first_moment timestamptz, last_moment timestamptz)
returns integer language plpgsql as $$
declare
  part text;
  made integer := 0;
  start timestamp := date_trunc(unit, first_moment at time zone 'UTC');
  next timestamp;
begin
  -- Several gateways may look at once.
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

-- Drops the partitions in which nothing is as young as this moment, and what is as old in the default partition.
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

-- The request log: every call of an account, however it ended, written in batches after the answer. The id begins with
-- `created_at`, so that it tells its partition.
create table requests (
  account_id text collate "C" not null,
  created_at timestamptz not null,
  id text collate "C" not null,
  key_id text collate "C" not null,
  client_request_id text collate "C",
  -- In which form it came: a word of the table of endpoints. Null where the path leads nowhere.
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
  constraint requests_unique primary key (account_id, created_at, id),
  constraint requests_ending_valid check (ending in ('answered', 'refused', 'failed', 'hung_up', 'broken_off'))
) partition by range (created_at);

create index requests_by_model on requests (account_id, model, created_at) where model is not null;
create index requests_by_key on requests (account_id, key_id, created_at);
create index requests_by_status on requests (account_id, status, created_at) where status >= 400;
create index requests_by_error on requests (account_id, error_code, created_at) where error_code is not null;
create index requests_by_client_id on requests (account_id, client_request_id, created_at)
  where client_request_id is not null;

create table requests_default partition of requests default;

select make_partitions('requests', 'month', now(), now() + interval '1 month');

-- What of the request log was lost, and from when to when: a queue was full, or the database away for too long.
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
