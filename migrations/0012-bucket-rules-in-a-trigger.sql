-- PostgreSQL parses a table's checks again for every statement: those of buckets and wallets took a fifteenth of a lone commit
-- (docs/decisions/0065-money-rules-in-triggers.md). The violations have the same names.

alter table buckets
  drop constraint buckets_cash_stays,
  drop constraint buckets_closed_empty,
  drop constraint buckets_never_overdrawn;

create function check_bucket_amounts() returns trigger language plpgsql as $$
declare
  broken text;
begin
  broken = case
    when new.held < 0 or new.posted < new.held then 'buckets_never_overdrawn'
    when not new.is_open and new.posted <> 0 then 'buckets_closed_empty'
    when new.kind = 'cash' and new.expires_at is not null then 'buckets_cash_stays'
  end;
  if broken is null then return new; end if;
  raise check_violation using constraint = broken, table = 'buckets', message = 'invalid bucket',
    detail = to_json(new)::text;
end $$;

create trigger buckets_amounts_valid before insert or update on buckets
  for each row execute function check_bucket_amounts();

alter table wallets drop constraint wallets_reserved_valid;

create function check_wallet_reserve() returns trigger language plpgsql as $$
begin
  if new.reserved >= 0 then return new; end if;
  raise check_violation using constraint = 'wallets_reserved_valid', table = 'wallets', message = 'invalid reserve';
end $$;

create trigger wallets_reserve_valid before insert or update of reserved on wallets
  for each row execute function check_wallet_reserve();
