-- Responses that are kept, to be read again and gone on from, each with the items that its own request had; what came before
-- them is found by following `previous_id`.
create table responses (
  account_id text not null,
  id text not null,
  previous_id text,
  state text not null,
  -- The JSON texts of the items of the request and of the response, as they are answered.
  input text not null,
  body text not null,
  -- Of both texts together.
  bytes integer not null,
  -- The ids of items that an upstream gave; those that the gateway gives lead to the response by themselves.
  item_ids text[],
  -- Of one that is made in the background and streamed: its events so far.
  events text,
  -- Until when the process that makes it in the background is believed to be alive.
  lease_until timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint responses_unique primary key (account_id, id),
  constraint responses_account_exists foreign key (account_id) references accounts (id),
  constraint responses_id_valid check (id like 'resp\_%'),
  constraint responses_state_valid check (
    case state
      when 'in_progress' then lease_until is not null
      when 'completed' then lease_until is null
      when 'incomplete' then lease_until is null
      when 'failed' then lease_until is null
      when 'cancelled' then lease_until is null
      else false
    end
  )
);

create index responses_by_expiry on responses (expires_at);
create index responses_by_previous on responses (account_id, previous_id) where previous_id is not null;
create index responses_by_item on responses using gin (item_ids) where item_ids is not null;
create index responses_by_lease on responses (lease_until) where lease_until is not null;
