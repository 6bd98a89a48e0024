create table plans (
  id text not null,
  name text not null,
  requests_per_minute integer,
  tokens_per_minute integer,
  concurrent_requests integer,
  tasks_in_flight integer,
  created_at timestamptz not null,
  constraint plans_id_unique primary key (id),
  constraint plans_id_valid check (id ~ '^[a-z0-9][a-z0-9_-]{0,63}$'),
  constraint plans_name_valid check (length(name) between 1 and 100),
  constraint plans_limits_valid check (
    requests_per_minute > 0 and tokens_per_minute > 0 and concurrent_requests > 0 and tasks_in_flight > 0
  )
);

alter table accounts
  add column plan_id text,
  add column suspended_at timestamptz,
  add column requests_per_minute integer,
  add column tokens_per_minute integer,
  add column concurrent_requests integer,
  add column tasks_in_flight integer,
  add constraint accounts_plan_exists foreign key (plan_id) references plans (id),
  add constraint accounts_limits_valid check (
    requests_per_minute > 0 and tokens_per_minute > 0 and concurrent_requests > 0 and tasks_in_flight > 0
  );

create index accounts_by_plan on accounts (plan_id);

alter table api_keys
  add column expires_at timestamptz,
  -- Null means no restriction; an empty list is not allowed, because it would read like one.
  add column model_ids text[],
  add column endpoints text[],
  add column addresses text[],
  add column budget_nano bigint,
  add column budget_period text,
  add column requests_per_minute integer,
  add column tokens_per_minute integer,
  add column concurrent_requests integer,
  add column tasks_in_flight integer,
  add constraint api_keys_scopes_valid check (
    cardinality(model_ids) > 0 and cardinality(endpoints) > 0 and cardinality(addresses) > 0
  ),
  add constraint api_keys_budget_valid check (budget_nano >= 0),
  add constraint api_keys_budget_period_valid check (
    (budget_nano is null) = (budget_period is null) and budget_period in ('total', 'day', 'week', 'month')
  ),
  add constraint api_keys_limits_valid check (
    requests_per_minute > 0 and tokens_per_minute > 0 and concurrent_requests > 0 and tasks_in_flight > 0
  );

-- Tells every node which account's callers it must look up again; an empty text means all of them.
create function notify_caller_change() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'api_keys' then
    perform pg_notify('callers', new.account_id);
  elsif tg_table_name = 'accounts' then
    perform pg_notify('callers', new.id);
  else
    perform pg_notify('callers', '');
  end if;
  return null;
end $$;

create trigger api_keys_changed after insert or update on api_keys
  for each row execute function notify_caller_change();
create trigger accounts_changed after update on accounts
  for each row execute function notify_caller_change();
create trigger plans_changed after update on plans
  for each row execute function notify_caller_change();
