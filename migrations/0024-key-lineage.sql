-- What a key spends counts against its budget, and a key that replaces it goes on counting where it stood: the line of a
-- key begins with the one that was created, and `key_spending` is told by that one. A hold names the key that asked, whose
-- line never changes, so that nothing more has to be written with a hold.

alter table api_keys add column lineage_id text;
update api_keys set lineage_id = id;
alter table api_keys
  alter column lineage_id set not null,
  add constraint api_keys_lineage_exists foreign key (lineage_id) references api_keys (id);
create index api_keys_by_lineage on api_keys (lineage_id);

create function keep_key_lineage() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    -- A key that replaces no other begins a line of its own.
    new.lineage_id = coalesce(new.lineage_id, new.id);
  elsif new.lineage_id is distinct from old.lineage_id then
    raise check_violation using constraint = 'api_keys_lineage_final', table = 'api_keys',
      message = 'what a key has spent stays with its line';
  end if;
  return new;
end $$;

create trigger api_keys_lineage before insert or update on api_keys for each row execute function keep_key_lineage();

-- As before, and with the key that each hold's budget is counted by.
create or replace function ledger_load(
  account_ids text[],
  named_bucket_ids text[],
  hold_ids text[],
  transaction_ids text[],
  key_ids text[],
  key_starts timestamptz[],
  out found_wallets json,
  out found_buckets json,
  out found_holds json,
  out found_postings json,
  out found_spending json
) language plpgsql stable
-- Planned once, and by the keys' indexes, whatever sizes the tables had at that moment.
set enable_seqscan = off
set plan_cache_mode = force_generic_plan as $$
declare
  wanted_bucket_ids text[] = named_bucket_ids;
begin
  select json_agg(json_build_object('account_id', account_id, 'version', version::text,
      'is_frozen', frozen_at is not null)) into found_wallets
    from wallets where account_id = any (account_ids);
  if cardinality(hold_ids) > 0 then
    select json_agg(json_build_object('id', id, 'account_id', account_id, 'unit', unit, 'amount', amount::text,
        'bucket_ids', bucket_ids, 'bucket_amounts', bucket_amounts::text[], 'state', state, 'settled', settled::text,
        'refusal', refusal, 'missing', missing::text, 'fingerprint', fingerprint,
        'settlement_fingerprint', settlement_fingerprint, 'key_id', key_id,
        'budget_key_id', coalesce((select lineage_id from api_keys where api_keys.id = holds.key_id), key_id),
        'budget_starts_at', budget_starts_at, 'cause_kind', cause_kind, 'cause_id', cause_id, 'expires_at', expires_at,
        'opened_at', opened_at, 'resolved_at', resolved_at)) into found_holds
      from holds where id = any (hold_ids);
    if found_holds is not null then
      wanted_bucket_ids = wanted_bucket_ids || array(
        select unnest(bucket_ids) from holds where id = any (hold_ids) and resolved_at is null);
    end if;
  end if;
  if cardinality(transaction_ids) > 0 then
    select json_agg(json_build_object('id', id, 'account_id', account_id, 'kind', kind, 'unit', unit,
        'amount', amount::text, 'bucket_id', bucket_id, 'fingerprint', fingerprint,
        'refunded', (select coalesce(sum(amount), 0)::text from postings refund where refund.refund_of = posting.id))
        order by id, leg) into found_postings
      from postings posting where id = any (transaction_ids);
    if found_postings is not null then
      wanted_bucket_ids = wanted_bucket_ids || array(
        select bucket_id from postings where id = any (transaction_ids) and bucket_id is not null);
    end if;
  end if;
  select json_agg(json_build_object('id', id, 'account_id', account_id, 'kind', kind, 'unit', unit,
      'expires_at', expires_at, 'posted', posted::text, 'held', held::text, 'entry_count', entry_count::text,
      'is_open', is_open, 'opened_at', opened_at)) into found_buckets
    from buckets where (account_id = any (account_ids) and is_open) or id = any (wanted_bucket_ids);
  if cardinality(key_ids) > 0 or found_holds is not null then
    select json_agg(json_build_object('key_id', key_id, 'starts_at', starts_at, 'account_id', account_id,
        'held', held::text, 'spent', spent::text)) into found_spending
      from key_spending where (key_id, starts_at) in (
        select * from unnest(key_ids, key_starts)
        union select coalesce((select lineage_id from api_keys where api_keys.id = holds.key_id), key_id), budget_starts_at
          from holds where id = any (hold_ids) and key_id is not null);
  end if;
end $$;
