-- How many bytes of text an account has stored, in its responses and conversations. Triggers keep it, so that nothing has to be
-- added up before a write. Conversations have shard 0: their writes of one account wait for each other there, and none can
-- miss what another has just added. Responses, of which many are written at a time, are spread over the others.
create table stored_texts (
  account_id text not null,
  shard smallint not null,
  bytes bigint not null,
  constraint stored_texts_unique primary key (account_id, shard),
  constraint stored_texts_account_exists foreign key (account_id) references accounts (id)
);

create function count_stored_text(changed_account text, changed_shard integer, delta bigint) returns void
  language sql as $$
    insert into stored_texts (account_id, shard, bytes) values (changed_account, changed_shard, delta)
      on conflict (account_id, shard) do update set bytes = stored_texts.bytes + excluded.bytes
  $$;

create function count_conversation() returns trigger language plpgsql as $$
  declare
    delta bigint := coalesce(new.bytes + octet_length(new.metadata), 0) - coalesce(old.bytes + octet_length(old.metadata), 0);
  begin
    if delta <> 0 then perform count_stored_text(coalesce(new.account_id, old.account_id), 0, delta); end if;
    return null;
  end
$$;

create function count_response() returns trigger language plpgsql as $$
  declare
    delta bigint := coalesce(new.bytes + coalesce(octet_length(new.events), 0), 0)
      - coalesce(old.bytes + coalesce(octet_length(old.events), 0), 0);
  begin
    if delta <> 0 then
      perform count_stored_text(
        coalesce(new.account_id, old.account_id), 1 + (hashtext(coalesce(new.id, old.id)) & 7), delta);
    end if;
    return null;
  end
$$;

lock table conversations, responses in share row exclusive mode;

insert into stored_texts (account_id, shard, bytes)
  select account_id, 0, sum(bytes + octet_length(metadata)) from conversations group by account_id;

insert into stored_texts (account_id, shard, bytes)
  select account_id, 1 + (hashtext(id) & 7) as shard, sum(bytes + coalesce(octet_length(events), 0))
  from responses group by account_id, shard;

create trigger conversations_counted after insert or update of bytes, metadata or delete on conversations
  for each row execute function count_conversation();

create trigger responses_counted after insert or update of bytes, events or delete on responses
  for each row execute function count_response();

-- Mailboxes that the welcome credit was given to, as hashes: however an address is written, its mailbox gets it once.
create table welcomed_mailboxes (
  mailbox_hash bytea not null,
  welcomed_at timestamptz not null,
  constraint welcomed_mailboxes_unique primary key (mailbox_hash)
);

-- Those of the accounts that exist, as `name-mailbox.ts` names them; domains beyond ASCII are left out.
insert into welcomed_mailboxes (mailbox_hash, welcomed_at)
  select sha256(convert_to(
      case
        when domain in ('gmail.com', 'googlemail.com') then replace(local_part, '.', '') || '@gmail.com'
        when domain in ('proton.me', 'protonmail.com', 'pm.me') then translate(local_part, '._-', '') || '@proton.me'
        when domain in ('icloud.com', 'me.com', 'mac.com') then local_part || '@icloud.com'
        else local_part || '@' || domain
      end, 'UTF8')), min(created_at)
  from users,
    lateral (select normalize(lower(email), nfkc) as address) as normal,
    lateral (
      select regexp_replace(regexp_replace(address, '@[^@]*$', ''), '(.)\+.*$', '\1') as local_part,
        rtrim(regexp_replace(address, '^.*@', ''), '.') as domain
    ) as parts
  group by 1
  on conflict do nothing;
