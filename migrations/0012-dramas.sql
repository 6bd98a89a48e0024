-- What a task is made of, where it is made of others: each step with its state, what it made, and the tasks it needed.
alter table tasks add column steps jsonb not null default '[]';
alter table tasks alter column steps drop default;

-- What clients call a piece of business of theirs: the same one is the same task, for ever.
create table task_orders (
  account_id text not null,
  client_business_id text not null,
  -- What the id is unique within, as in `video 3`.
  scope text not null,
  fingerprint bytea not null,
  task_id text not null,
  constraint task_orders_id_unique primary key (account_id, client_business_id, scope)
);
