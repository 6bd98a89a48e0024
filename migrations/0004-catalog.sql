-- Models now come from the catalog, which has versions.
drop table models;

create table catalog_versions (
  number integer not null,
  currency text not null,
  -- Providers and models with their routes, as applied. Secrets are names of environment variables.
  providers json not null,
  models json not null,
  applied_at timestamptz not null,
  constraint catalog_versions_number_unique primary key (number),
  constraint catalog_versions_number_valid check (number > 0),
  constraint catalog_versions_currency_valid check (currency ~ '^[A-Z]{3}$')
);

create table prices (
  id text not null,
  model_id text not null,
  capability text,
  plan_id text,
  account_id text,
  billing_type text not null,
  unit text not null,
  price_nano bigint,
  input_price_nano bigint,
  output_price_nano bigint,
  cached_input_price_nano bigint,
  minimum_charge_nano bigint not null,
  effective_at timestamptz not null,
  created_at timestamptz not null,
  constraint prices_id_unique primary key (id),
  constraint prices_id_valid check (id like 'price\_%'),
  constraint prices_plan_exists foreign key (plan_id) references plans (id),
  constraint prices_account_exists foreign key (account_id) references accounts (id),
  constraint prices_scope_valid check (plan_id is null or account_id is null),
  -- A comparison with null would let a row pass, so what must be there is asked for by itself.
  constraint prices_amounts_complete check (
    case billing_type
      when 'token' then price_nano is null and num_nulls(input_price_nano, output_price_nano) = 0
      when 'per_call' then price_nano is not null and num_nonnulls(input_price_nano, output_price_nano, cached_input_price_nano) = 0
      when 'duration' then price_nano is not null and num_nonnulls(input_price_nano, output_price_nano, cached_input_price_nano) = 0
      else false
    end
  ),
  constraint prices_amounts_positive check (
    price_nano >= 0 and input_price_nano >= 0 and output_price_nano >= 0 and cached_input_price_nano >= 0
    and minimum_charge_nano >= 0
  )
);

-- Which prices belong to which version of the catalog.
create table catalog_prices (
  catalog_version integer not null,
  position integer not null,
  price_id text not null,
  constraint catalog_prices_unique primary key (catalog_version, position),
  constraint catalog_prices_version_exists foreign key (catalog_version) references catalog_versions (number),
  constraint catalog_prices_price_exists foreign key (price_id) references prices (id)
);

-- A charge refers to the price it was made with for ever, so what is written here stays.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed or deleted', tg_table_name;
end $$;

create trigger prices_final before update or delete on prices
  for each row execute function refuse_change();
create trigger catalog_versions_final before update or delete on catalog_versions
  for each row execute function refuse_change();
create trigger catalog_prices_final before update or delete on catalog_prices
  for each row execute function refuse_change();

create function notify_catalog_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('catalog', new.number::text);
  return null;
end $$;

create trigger catalog_changed after insert on catalog_versions
  for each row execute function notify_catalog_change();
