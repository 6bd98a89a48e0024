-- What operators and account owners did: append-only and hash-chained, so that a changed, removed or inserted row shows.

create table audit_entries (
  -- Assigned by the trigger below, without gaps.
  number bigint not null,
  created_at timestamptz not null,
  actor_kind text not null,
  -- A user's or key's id; null for the command line and the gateway itself.
  actor_id text collate "C",
  actor_name text not null,
  address text,
  action text collate "C" not null,
  subject text collate "C",
  account_id text collate "C",
  reason text,
  before jsonb,
  after jsonb,
  request_id text collate "C",
  previous_hash bytea not null,
  hash bytea not null,
  constraint audit_entries_number_unique primary key (number),
  constraint audit_entries_actor_valid check (actor_kind in ('operator', 'key', 'user', 'command', 'system')
    and length(actor_name) between 1 and 254),
  constraint audit_entries_action_valid check (action ~ '^[a-z_]{1,40}\.[a-z_]{1,40}$'),
  constraint audit_entries_words_valid check (length(reason) between 1 and 500 and length(subject) between 1 and 254)
);

create index audit_entries_by_account on audit_entries (account_id, number) where account_id is not null;
create index audit_entries_by_actor on audit_entries (actor_id, number) where actor_id is not null;
create index audit_entries_by_subject on audit_entries (subject, number) where subject is not null;
create index audit_entries_by_action on audit_entries (action, number);
create index audit_entries_by_time on audit_entries (created_at);

-- One canonical text per row: jsonb sorts and deduplicates keys, and times have microseconds in UTC.
create function audit_hash(entry audit_entries) returns bytea language sql stable as $$
  select sha256(entry.previous_hash || convert_to(jsonb_build_array(entry.number,
    to_char(entry.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), entry.actor_kind, entry.actor_id,
    entry.actor_name, entry.address, entry.action, entry.subject, entry.account_id, entry.reason, entry.before, entry.after,
    entry.request_id)::text, 'UTF8'))
$$;

-- The lock is held until the commit, so that the order of numbers is the order of commits. Transactions take it last.
create function chain_audit_entry() returns trigger language plpgsql as $$
declare
  last audit_entries;
begin
  perform pg_advisory_xact_lock(7264043);
  select * into last from audit_entries order by number desc limit 1;
  new.number := coalesce(last.number, 0) + 1;
  new.created_at := clock_timestamp();
  new.previous_hash := coalesce(last.hash, sha256(''));
  new.hash := audit_hash(new);
  return new;
end $$;

create trigger audit_entries_chained before insert on audit_entries for each row execute function chain_audit_entry();

create trigger audit_entries_final before update or delete on audit_entries
  for each row execute function refuse_change();
