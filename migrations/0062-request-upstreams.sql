-- Which upstream answered a call of the request log, and what those said that failed before it. For operators only, and so
-- in a table of its own: what customers read has no such columns. Only calls that reached an upstream have a row.
create table request_upstreams (
  account_id text collate "C" not null,
  created_at timestamptz not null,
  id text collate "C" not null,
  upstream text collate "C" not null,
  -- JSON, in the order of the attempts; null where none failed.
  failed_attempts text
) partition by range (created_at);

-- Rows come in the order of their time and are looked up one at a time: a B-tree would cost more than the rows.
create index request_upstreams_by_time on request_upstreams using brin (created_at);

create table request_upstreams_default partition of request_upstreams default;

select make_partitions('request_upstreams', 'month', now(), now() + interval '1 month');
