-- Payments by card. A checkout is written before anybody is asked for money, and says alone how much is credited.
create table checkouts (
  id text not null,
  account_id text not null,
  amount_nano bigint not null,
  currency text not null,
  -- The same amount in the unit that Stripe counts in.
  amount_minor bigint not null,
  state text not null,
  -- Stripe's names for the session and the payment, and where the session is paid.
  session_id text,
  session_url text,
  payment_id text,
  -- Why it failed or does not fit, for the operator.
  note text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- When the person was done while the money was still on its way.
  completed_at timestamptz,
  -- When Stripe was last asked about it.
  asked_at timestamptz,
  ended_at timestamptz,
  -- What Stripe gave back or somebody contested afterwards; neither moves money here.
  refunded_minor bigint not null,
  disputed_at timestamptz,
  constraint checkouts_id_unique primary key (id),
  constraint checkouts_id_valid check (id like 'chk\_%'),
  constraint checkouts_account_exists foreign key (account_id) references accounts (id),
  constraint checkouts_session_unique unique (session_id),
  constraint checkouts_payment_unique unique (payment_id),
  constraint checkouts_amount_positive check (amount_nano > 0 and amount_minor > 0 and refunded_minor >= 0),
  constraint checkouts_currency_valid check (currency ~ '^[A-Z]{3}$'),
  constraint checkouts_state_valid check (
    case state
      when 'open' then ended_at is null
      when 'paid' then ended_at is not null
      when 'expired' then ended_at is not null
      when 'failed' then ended_at is not null and note is not null
      when 'mismatched' then ended_at is not null and note is not null
      else false
    end
  )
);

create index checkouts_by_account on checkouts (account_id, id);
create index checkouts_open on checkouts (created_at) where state = 'open';

-- Money that was credited stays credited: only what is noted about it afterwards changes.
create function keep_paid_checkout() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and (new.state, new.account_id, new.amount_nano, new.amount_minor, new.currency)
    is not distinct from (old.state, old.account_id, old.amount_nano, old.amount_minor, old.currency)
  then return new; end if;
  raise check_violation using constraint = 'checkouts_paid_final', table = 'checkouts',
    message = 'a checkout that was paid stays as it was';
end $$;

create trigger checkouts_paid_final before update or delete on checkouts
  for each row when (old.state = 'paid') execute function keep_paid_checkout();
