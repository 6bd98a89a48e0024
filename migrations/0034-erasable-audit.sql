-- Entries of the audit log keep who acted and what changed under salted digests, which the chain covers instead of the texts.
-- So personal data can be blanked, and the chain still verifies. Older entries have none: see decision 81.

alter table audit_entries add column who_salt bytea;
alter table audit_entries add column who_digest bytea;
alter table audit_entries add column facts_salt bytea;
alter table audit_entries add column facts_digest bytea;
-- When personal data was blanked.
alter table audit_entries add column erased_at timestamptz;

create function audit_who(entry audit_entries) returns bytea language sql immutable as $$
  select sha256(entry.who_salt || convert_to(jsonb_build_array(entry.actor_name, entry.address)::text, 'UTF8'))
$$;

create function audit_facts(entry audit_entries) returns bytea language sql immutable as $$
  select sha256(entry.facts_salt || convert_to(jsonb_build_array(entry.reason, entry.before, entry.after)::text, 'UTF8'))
$$;

create or replace function audit_hash(entry audit_entries) returns bytea language sql stable as $$
  select sha256(entry.previous_hash || convert_to(case when entry.who_digest is null
    then jsonb_build_array(entry.number, to_char(entry.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      entry.actor_kind, entry.actor_id, entry.actor_name, entry.address, entry.action, entry.subject, entry.account_id,
      entry.reason, entry.before, entry.after, entry.request_id)
    else jsonb_build_array(entry.number, to_char(entry.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      entry.actor_kind, entry.actor_id, encode(entry.who_digest, 'hex'), entry.action, entry.subject, entry.account_id,
      encode(entry.facts_digest, 'hex'), entry.request_id)
    end::text, 'UTF8'))
$$;

-- Whether the texts are those that were digested, or were blanked as a whole. An old entry that was blanked cannot be recomputed.
create function audit_texts_hold(entry audit_entries) returns boolean language sql stable as $$
  select case
    when entry.who_digest is null then entry.erased_at is null
      or (entry.actor_name = 'erased' and num_nonnulls(entry.address, entry.reason, entry.before, entry.after) = 0)
    else case when entry.who_salt is null
        then entry.erased_at is not null and entry.actor_name = 'erased' and entry.address is null
        else entry.who_digest = audit_who(entry) end
      and case when entry.facts_salt is null
        then entry.erased_at is not null and num_nonnulls(entry.reason, entry.before, entry.after) = 0
        else entry.facts_digest = audit_facts(entry) end
    end
$$;

create or replace function chain_audit_entry() returns trigger language plpgsql as $$
declare
  last audit_entries;
begin
  perform pg_advisory_xact_lock(7264043);
  select * into last from audit_entries order by number desc limit 1;
  new.number := coalesce(last.number, 0) + 1;
  new.created_at := clock_timestamp();
  new.previous_hash := coalesce(last.hash, sha256(''));
  -- 122 random bits each: without the salt, an address cannot be tried against the digest of an erased entry.
  new.who_salt := uuid_send(gen_random_uuid());
  new.facts_salt := uuid_send(gen_random_uuid());
  new.erased_at := null;
  new.who_digest := audit_who(new);
  new.facts_digest := audit_facts(new);
  new.hash := audit_hash(new);
  return new;
end $$;

-- The only change: blank who, or what, as a whole.
create function keep_audit_entry() returns trigger language plpgsql as $$
declare
  blanked constant text[] := '{actor_name,address,who_salt,reason,before,after,facts_salt,erased_at}';
begin
  if new.erased_at is not null and to_jsonb(new) - blanked = to_jsonb(old) - blanked
    and ((new.actor_name, new.address, new.who_salt) is not distinct from (old.actor_name, old.address, old.who_salt)
      or new.actor_name = 'erased' and num_nonnulls(new.address, new.who_salt) = 0)
    and ((new.reason, new.before, new.after, new.facts_salt)
        is not distinct from (old.reason, old.before, old.after, old.facts_salt)
      or num_nonnulls(new.reason, new.before, new.after, new.facts_salt) = 0)
  then return new; end if;
  raise exception 'rows of % are never changed or deleted', tg_table_name;
end $$;

drop trigger audit_entries_final on audit_entries;
create trigger audit_entries_final before delete on audit_entries for each row execute function refuse_change();
create trigger audit_entries_blanked before update on audit_entries for each row execute function keep_audit_entry();
