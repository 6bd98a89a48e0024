-- What people see in the console: what was charged by day, model and key, in the time zone of the account.

-- Every hold knows the key that asked for it, with or without a budget.
alter table holds
  drop constraint holds_budget_complete,
  add constraint holds_budget_has_key check (budget_starts_at is null or key_id is not null);

create index charges_by_account on charges (account_id, created_at, id);

alter table accounts
  add column time_zone text not null default 'UTC',
  add constraint accounts_time_zone_valid check (length(time_zone) between 1 and 64);

-- What an account's people do in the console is done with a key whose text nobody knows.
alter table api_keys add column is_console boolean not null default false;
create unique index api_keys_one_console on api_keys (account_id) where is_console;
