-- Where an account wants to hear of its events.
create table webhook_endpoints (
  id text not null,
  account_id text not null,
  url text not null,
  description text not null,
  -- Empty for all.
  event_types text[] not null,
  -- Sealed with a key that follows from the deployment's secret: the database alone cannot sign.
  sealed_secret bytea not null,
  -- Signs too, until its time is over.
  sealed_previous_secret bytea,
  previous_secret_until timestamptz,
  -- The first failure since the last success.
  failing_since timestamptz,
  disabled_at timestamptz,
  disabled_reason text,
  created_at timestamptz not null,
  constraint webhook_endpoints_id_unique primary key (id),
  constraint webhook_endpoints_account_exists foreign key (account_id) references accounts (id),
  -- An event goes to each address once, so one secret must belong to it.
  constraint webhook_endpoints_url_unique unique (account_id, url),
  constraint webhook_endpoints_id_valid check (id like 'whe\_%'),
  constraint webhook_endpoints_url_valid check (length(url) between 1 and 2048),
  constraint webhook_endpoints_description_valid check (length(description) <= 500),
  constraint webhook_endpoints_event_types_valid check (cardinality(event_types) <= 20),
  constraint webhook_endpoints_previous_secret_valid check (num_nulls(sealed_previous_secret, previous_secret_until) in (0, 2)),
  constraint webhook_endpoints_disabled_valid check (
    case
      when disabled_at is null then disabled_reason is null
      else disabled_reason is not null and disabled_reason in ('owner', 'gone', 'failing')
    end
  )
);

-- What signs the events that go to a request's own callback_url.
create table account_webhook_secrets (
  account_id text not null,
  sealed_secret bytea not null,
  sealed_previous_secret bytea,
  previous_secret_until timestamptz,
  created_at timestamptz not null,
  constraint account_webhook_secrets_unique primary key (account_id),
  constraint account_webhook_secrets_account_exists foreign key (account_id) references accounts (id),
  constraint account_webhook_secrets_previous_secret_valid check (num_nulls(sealed_previous_secret, previous_secret_until) in (0, 2))
);

-- Accounts that read their events by GET /v1/events instead of being called.
create table event_inboxes (
  account_id text not null,
  opened_at timestamptz not null,
  constraint event_inboxes_unique primary key (account_id),
  constraint event_inboxes_account_exists foreign key (account_id) references accounts (id)
);

-- What happened, written in the transaction that made it true. No foreign keys here and below: every task writes here.
create table events (
  id text not null,
  account_id text not null,
  type text not null,
  -- Kept as it was written, in its order; the binary form refuses texts that a request may contain.
  data json not null,
  created_at timestamptz not null,
  constraint events_id_unique primary key (id),
  constraint events_id_valid check (id like 'evt\_%')
);

create index events_by_account on events (account_id, id);
create index events_by_time on events (created_at);

-- Who is to hear of an event.
create table deliveries (
  id text not null,
  event_id text not null,
  account_id text not null,
  -- Absent for a request's own callback_url.
  endpoint_id text,
  url text not null,
  -- What waits for the same receiver: one account's endpoint, or all its callbacks to one server.
  lane text not null,
  state text not null,
  attempt_count smallint not null,
  -- When the next attempt is due; while one is under way, when its sender is believed to be dead.
  due_at timestamptz,
  -- Who sends it at the moment.
  lease_id text,
  created_at timestamptz not null,
  constraint deliveries_id_unique primary key (id),
  constraint deliveries_id_valid check (id like 'dlv\_%'),
  constraint deliveries_state_valid check (
    case state
      when 'pending' then due_at is not null
      when 'succeeded' then num_nonnulls(due_at, lease_id) = 0
      when 'failed' then num_nonnulls(due_at, lease_id) = 0
      when 'dropped' then num_nonnulls(due_at, lease_id) = 0
      else false
    end
  )
);

create index deliveries_by_lane on deliveries (lane, due_at) where state = 'pending';
-- While one waits, sending it again means sending it sooner.
create unique index deliveries_pending_once on deliveries (event_id, lane) where state = 'pending';
create index deliveries_by_event on deliveries (event_id, id);
create index deliveries_by_account on deliveries (account_id, id);

-- Every attempt, and what came of it.
create table delivery_attempts (
  delivery_id text not null,
  number smallint not null,
  -- Two senders can make the same attempt, when one was believed to be dead; both are told of.
  lease_id text not null,
  attempted_at timestamptz not null,
  duration_ms integer not null,
  status smallint,
  error text,
  answer text,
  constraint delivery_attempts_unique primary key (delivery_id, number, lease_id),
  constraint delivery_attempts_outcome_valid check (num_nulls(status, error) < 2)
);
