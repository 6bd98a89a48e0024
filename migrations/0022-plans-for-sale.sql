-- Plans that customers buy and renew themselves.

-- The price of a period. Only plans for sale are offered; who has bought one keeps it.
alter table plans add column price_nano bigint;
alter table plans add column is_for_sale boolean not null default false;
alter table plans add constraint plans_price_valid check (price_nano > 0 and (price_nano is not null or not is_for_sale));

-- An account's own plan. It renews at the price that was agreed, until it is canceled or the balance does not suffice.
create table plan_subscriptions (
  account_id text not null,
  plan_id text not null,
  price_nano bigint not null,
  bought_at timestamptz not null,
  canceled_at timestamptz,
  constraint plan_subscriptions_account_unique primary key (account_id),
  constraint plan_subscriptions_account_exists foreign key (account_id) references accounts (id),
  constraint plan_subscriptions_plan_exists foreign key (plan_id) references plans (id),
  constraint plan_subscriptions_price_positive check (price_nano > 0)
);

-- The declined attempts on a checkout's page, by the vendor's id, so that an event that arrives twice counts once.
alter table checkouts add column declined_charges text[] not null default '{}';
