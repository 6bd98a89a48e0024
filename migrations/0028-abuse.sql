-- Abuse: sign-ups by network and mail domain, block lists, and a daily spend cap for new accounts.

-- One row per sign-up: opened, or refused with the reason.
create table sign_ups (
  id text collate "C" not null,
  created_at timestamptz not null,
  network text not null,
  mail_domain text not null,
  account_id text,
  -- Null if the account was opened.
  refusal text,
  -- An operator has lifted the spend cap.
  cap_lifted_at timestamptz,
  constraint sign_ups_unique primary key (id),
  constraint sign_ups_id_valid check (id like 'sup\_%'),
  constraint sign_ups_outcome_valid check ((account_id is null) = (refusal is not null)),
  constraint sign_ups_refusal_valid check (refusal in ('blocked', 'disposable', 'network-limit', 'domain-limit'))
);

create index sign_ups_by_time on sign_ups (created_at);
create index sign_ups_by_network on sign_ups (network, created_at);
create index sign_ups_by_domain on sign_ups (mail_domain, created_at);
create unique index sign_ups_by_account on sign_ups (account_id) where account_id is not null;

-- What may not sign up or call. `disposable` lists mail domains whose mailboxes anybody can open for minutes.
create table blocks (
  kind text not null,
  subject text not null,
  reason text not null,
  created_at timestamptz not null,
  created_by text not null,
  -- Null: until an operator removes it.
  ends_at timestamptz,
  constraint blocks_unique primary key (kind, subject),
  constraint blocks_kind_valid check (kind in ('network', 'domain', 'mailbox', 'disposable')),
  constraint blocks_subject_valid check (length(subject) between 1 and 254)
);

create function notify_block_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('blocks', '');
  return null;
end $$;

create trigger blocks_changed after insert or update or delete on blocks
  for each statement execute function notify_block_change();

-- Calls of the account are rejected until then: a new account has spent its daily maximum.
alter table accounts add column spend_capped_until timestamptz;
