-- Conversations that outlive their responses: items in the order in which they came, the caller's and the model's. One that
-- nobody has used for as long as a response is kept is forgotten with all its items.
create table conversations (
  account_id text not null,
  id text not null,
  -- The JSON text of what its owner notes about it.
  metadata text not null,
  item_count integer not null default 0,
  -- Of all its items together.
  bytes bigint not null default 0,
  next_number bigint not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint conversations_unique primary key (account_id, id),
  constraint conversations_account_exists foreign key (account_id) references accounts (id),
  constraint conversations_id_valid check (id like 'conv\_%'),
  constraint conversations_sums_valid check (item_count >= 0 and bytes >= 0)
);

create index conversations_by_expiry on conversations (expires_at);

create table conversation_items (
  account_id text not null,
  conversation_id text not null,
  number bigint not null,
  id text not null,
  -- Its JSON text, as it is answered.
  item text not null,
  constraint conversation_items_unique primary key (account_id, conversation_id, number),
  constraint conversation_items_id_unique unique (account_id, conversation_id, id),
  constraint conversation_items_conversation_exists foreign key (account_id, conversation_id)
    references conversations (account_id, id) on delete cascade
);
