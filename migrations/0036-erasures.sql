-- Erased accounts. Calls that were running at the erasure write to the request log when they end, so a job deletes again for a while.
create table erasures (
  account_id text collate "C" not null,
  erased_at timestamptz not null,
  -- When the last of them has ended.
  ends_at timestamptz not null,
  constraint erasures_account_unique primary key (account_id),
  constraint erasures_account_exists foreign key (account_id) references accounts(id),
  constraint erasures_order check (ends_at > erased_at)
);

create index erasures_by_end on erasures using btree (ends_at);
