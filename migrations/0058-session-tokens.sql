-- A session whose owner has proven again who they are has a new token. What other tabs sent a moment before still carries
-- the one before: for a few seconds it leads to the session too, as one that has proven nothing lately.
alter table user_sessions
  add column previous_token_hash bytea,
  add column previous_token_until timestamptz,
  add constraint user_sessions_previous_token_whole check ((previous_token_hash is null) = (previous_token_until is null));

create unique index user_sessions_previous_token_unique on user_sessions (previous_token_hash);
