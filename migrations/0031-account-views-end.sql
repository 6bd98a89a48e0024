-- How an operator's view of an account ended. An open view without an end is live, until `ends_at`.
alter table account_views add column ended_at timestamptz;
alter table account_views add column ending text;
alter table account_views add constraint account_views_ending_valid check (
  (ended_at is null) = (ending is null) and ending in ('ended', 'replaced', 'expired', 'access-lost'));

create index account_views_open on account_views (ends_at) where ended_at is null;
