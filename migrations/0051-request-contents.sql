-- The content log: whether the bodies of a key's calls and of their answers are kept.
alter table api_keys add column logs_content boolean not null default false;

-- What was kept of the bodies of a call and of its answer: redacted, compressed, then sealed for the account and the request.
-- The id begins with `created_at`, so that it tells its partition: one for each day, dropped whole.
create table request_contents (
  account_id text collate "C" not null,
  created_at timestamptz not null,
  id text collate "C" not null,
  -- Lost: there was more to be written than memory allows. Deleted: by the account's own people.
  state text collate "C" not null,
  sealed bytea,
  constraint request_contents_unique primary key (account_id, created_at, id),
  constraint request_contents_state_valid check (state in ('kept', 'lost', 'deleted')),
  constraint request_contents_sealed_while_kept check ((state = 'kept') = (sealed is not null))
) partition by range (created_at);

-- What is sealed cannot be made smaller once more.
alter table request_contents alter column sealed set storage external;

create table request_contents_default partition of request_contents default;

select make_partitions('request_contents', 'day', now(), now() + interval '2 days');
