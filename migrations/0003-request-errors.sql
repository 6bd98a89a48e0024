-- The error of each failed call in `requests`. A table of its own, because gateways of the previous version insert whole rows of
-- `requests`, and because successful calls then store nothing more.
create table request_errors (
  account_id text collate "C" not null,
  created_at timestamptz not null,
  id text collate "C" not null,
  -- As the caller got it, without secrets.
  message text not null,
  param text,
  constraint request_errors_unique primary key (account_id, created_at, id)
) partition by range (created_at);

create table request_errors_default partition of request_errors default;

select make_partitions('request_errors', 'month', now(), now() + interval '1 month');
