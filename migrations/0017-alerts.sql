-- When to mail an account's owner about its balance and its keys' budgets. Null switches a mail off.

create table account_alerts (
  account_id text not null,
  low_balance_nano bigint,
  budget_percent integer,
  -- Whether the last mail is about the current time below the threshold; a mail follows each crossing, not each call.
  is_low boolean not null default false,
  low_count bigint not null default 0,
  low_mailed_at timestamptz,
  changed_at timestamptz not null,
  constraint account_alerts_account_unique primary key (account_id),
  constraint account_alerts_account_exists foreign key (account_id) references accounts (id),
  constraint account_alerts_valid check (low_balance_nano > 0 and budget_percent between 1 and 100)
);

create index account_notices_by_account on account_notices (account_id, created_at);
