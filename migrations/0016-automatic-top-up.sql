-- Saved cards, automatic top-ups, and mails to account owners.

-- `automatic` charges a saved card without a page, so it has no session. `external` was reported by another provider.
alter table checkouts add column origin text not null default 'page';
-- `wanted` until the card of a paid checkout was read from Stripe.
alter table checkouts add column card_save text;
-- The customer and the card that an automatic charge uses, so that every retry sends the same request.
alter table checkouts add column customer_id text;
alter table checkouts add column card_id text;
alter table checkouts add constraint checkouts_origin_valid check (
  case origin
    when 'page' then card_id is null and (card_save is null or card_save in ('wanted', 'done'))
    when 'automatic' then card_id is not null and customer_id is not null and card_save is null and session_id is null
    when 'external' then card_id is null and card_save is null and session_id is null and payment_id like 'external:%'
    else false
  end
);

-- One charge of a saved card at a time per account.
create unique index checkouts_one_automatic on checkouts (account_id) where origin = 'automatic' and state = 'open';
create index checkouts_automatic on checkouts (account_id, created_at) where origin = 'automatic';
create index checkouts_card_wanted on checkouts (ended_at) where card_save = 'wanted' and state = 'paid';

-- The card that an account's automatic top-ups charge. Its number stays at Stripe.
create table saved_cards (
  account_id text not null,
  customer_id text not null,
  card_id text not null,
  brand text not null,
  last4 text not null,
  exp_month integer not null,
  exp_year integer not null,
  saved_at timestamptz not null,
  constraint saved_cards_account_unique primary key (account_id),
  constraint saved_cards_account_exists foreign key (account_id) references accounts (id)
);

-- When to charge the saved card. `stopped` is off by our decision, with the reason; only the owner switches it on again.
create table auto_top_ups (
  account_id text not null,
  state text not null,
  stop_reason text,
  threshold_nano bigint not null,
  amount_nano bigint not null,
  -- The same amount in Stripe's smallest unit.
  amount_minor bigint not null,
  -- Per calendar month, UTC.
  month_max_nano bigint not null,
  -- No attempt before this time.
  next_at timestamptz not null,
  changed_at timestamptz not null,
  constraint auto_top_ups_account_unique primary key (account_id),
  constraint auto_top_ups_account_exists foreign key (account_id) references accounts (id),
  constraint auto_top_ups_amounts_valid check (
    threshold_nano > 0 and amount_nano >= threshold_nano and amount_minor > 0 and month_max_nano >= amount_nano
  ),
  constraint auto_top_ups_state_valid check (
    case state
      when 'on' then stop_reason is null
      when 'off' then stop_reason is null
      when 'stopped' then stop_reason in ('declined', 'reversed', 'review')
      else false
    end
  )
);

create index auto_top_ups_on on auto_top_ups (account_id) where state = 'on';

-- Mails to account owners, committed with the change that they report. The id is derived from the event, so each is sent once.
create table account_notices (
  id text not null,
  account_id text not null,
  kind text not null,
  facts jsonb not null,
  created_at timestamptz not null,
  sent_at timestamptz,
  constraint account_notices_id_unique primary key (id),
  constraint account_notices_account_exists foreign key (account_id) references accounts (id)
);

create index account_notices_unsent on account_notices (created_at) where sent_at is null;
