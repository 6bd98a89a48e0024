-- Written by `npm run generate` from the migrations; for reading, never run.

create table accounts (
  id text not null,
  email text not null,
  password_hash text,
  created_at timestamp with time zone not null,
  plan_id text,
  suspended_at timestamp with time zone,
  requests_per_minute integer,
  tokens_per_minute integer,
  concurrent_requests integer,
  tasks_in_flight integer,
  constraint accounts_email_valid CHECK (email ~~ '%_@_%'::text AND length(email) <= 254),
  constraint accounts_id_unique PRIMARY KEY (id),
  constraint accounts_id_valid CHECK (id ~~ 'acct\_%'::text),
  constraint accounts_limits_valid CHECK (requests_per_minute > 0 AND tokens_per_minute > 0 AND concurrent_requests > 0 AND tasks_in_flight > 0),
  constraint accounts_password_hash_valid CHECK (password_hash ~~ '$argon2id$%'::text),
  constraint accounts_plan_exists FOREIGN KEY (plan_id) REFERENCES plans(id)
);

CREATE INDEX accounts_by_plan ON accounts USING btree (plan_id);

CREATE UNIQUE INDEX accounts_email_unique ON accounts USING btree (lower(email));

CREATE TRIGGER accounts_changed AFTER UPDATE ON accounts FOR EACH ROW EXECUTE FUNCTION notify_caller_change();

create table api_keys (
  id text not null,
  account_id text not null,
  name text not null,
  hash bytea not null,
  last_four text not null,
  created_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  expires_at timestamp with time zone,
  model_ids text[],
  endpoints text[],
  addresses text[],
  budget_nano bigint,
  budget_period text,
  requests_per_minute integer,
  tokens_per_minute integer,
  concurrent_requests integer,
  tasks_in_flight integer,
  constraint api_keys_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint api_keys_budget_period_valid CHECK ((budget_nano IS NULL) = (budget_period IS NULL) AND (budget_period = ANY (ARRAY['total'::text, 'day'::text, 'week'::text, 'month'::text]))),
  constraint api_keys_budget_valid CHECK (budget_nano >= 0),
  constraint api_keys_hash_unique UNIQUE (hash),
  constraint api_keys_hash_valid CHECK (octet_length(hash) = 32),
  constraint api_keys_id_unique PRIMARY KEY (id),
  constraint api_keys_id_valid CHECK (id ~~ 'key\_%'::text),
  constraint api_keys_limits_valid CHECK (requests_per_minute > 0 AND tokens_per_minute > 0 AND concurrent_requests > 0 AND tasks_in_flight > 0),
  constraint api_keys_name_valid CHECK (length(name) >= 1 AND length(name) <= 100),
  constraint api_keys_scopes_valid CHECK (cardinality(model_ids) > 0 AND cardinality(endpoints) > 0 AND cardinality(addresses) > 0)
);

CREATE INDEX api_keys_by_account ON api_keys USING btree (account_id, id);

CREATE TRIGGER api_keys_changed AFTER INSERT OR UPDATE ON api_keys FOR EACH ROW EXECUTE FUNCTION notify_caller_change();

create table catalog_prices (
  catalog_version integer not null,
  position integer not null,
  price_id text not null,
  constraint catalog_prices_price_exists FOREIGN KEY (price_id) REFERENCES prices(id),
  constraint catalog_prices_unique PRIMARY KEY (catalog_version, "position"),
  constraint catalog_prices_version_exists FOREIGN KEY (catalog_version) REFERENCES catalog_versions(number)
);

CREATE TRIGGER catalog_prices_final BEFORE DELETE OR UPDATE ON catalog_prices FOR EACH ROW EXECUTE FUNCTION refuse_change();

create table catalog_versions (
  number integer not null,
  currency text not null,
  providers json not null,
  models json not null,
  applied_at timestamp with time zone not null,
  constraint catalog_versions_currency_valid CHECK (currency ~ '^[A-Z]{3}$'::text),
  constraint catalog_versions_number_unique PRIMARY KEY (number),
  constraint catalog_versions_number_valid CHECK (number > 0)
);

CREATE TRIGGER catalog_changed AFTER INSERT ON catalog_versions FOR EACH ROW EXECUTE FUNCTION notify_catalog_change();

CREATE TRIGGER catalog_versions_final BEFORE DELETE OR UPDATE ON catalog_versions FOR EACH ROW EXECUTE FUNCTION refuse_change();

create table plans (
  id text not null,
  name text not null,
  requests_per_minute integer,
  tokens_per_minute integer,
  concurrent_requests integer,
  tasks_in_flight integer,
  created_at timestamp with time zone not null,
  constraint plans_id_unique PRIMARY KEY (id),
  constraint plans_id_valid CHECK (id ~ '^[a-z0-9][a-z0-9_-]{0,63}$'::text),
  constraint plans_limits_valid CHECK (requests_per_minute > 0 AND tokens_per_minute > 0 AND concurrent_requests > 0 AND tasks_in_flight > 0),
  constraint plans_name_valid CHECK (length(name) >= 1 AND length(name) <= 100)
);

CREATE TRIGGER plans_changed AFTER UPDATE ON plans FOR EACH ROW EXECUTE FUNCTION notify_caller_change();

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
  effective_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  constraint prices_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint prices_amounts_complete CHECK (
CASE billing_type
    WHEN 'token'::text THEN price_nano IS NULL AND num_nulls(input_price_nano, output_price_nano) = 0
    WHEN 'per_call'::text THEN price_nano IS NOT NULL AND num_nonnulls(input_price_nano, output_price_nano, cached_input_price_nano) = 0
    WHEN 'duration'::text THEN price_nano IS NOT NULL AND num_nonnulls(input_price_nano, output_price_nano, cached_input_price_nano) = 0
    ELSE false
END),
  constraint prices_amounts_positive CHECK (price_nano >= 0 AND input_price_nano >= 0 AND output_price_nano >= 0 AND cached_input_price_nano >= 0 AND minimum_charge_nano >= 0),
  constraint prices_id_unique PRIMARY KEY (id),
  constraint prices_id_valid CHECK (id ~~ 'price\_%'::text),
  constraint prices_plan_exists FOREIGN KEY (plan_id) REFERENCES plans(id),
  constraint prices_scope_valid CHECK (plan_id IS NULL OR account_id IS NULL)
);

CREATE TRIGGER prices_final BEFORE DELETE OR UPDATE ON prices FOR EACH ROW EXECUTE FUNCTION refuse_change();

create table schema_migrations (
  number integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone not null default now(),
  constraint schema_migrations_pkey PRIMARY KEY (number)
);

CREATE OR REPLACE FUNCTION public.notify_caller_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_table_name = 'api_keys' then
    perform pg_notify('callers', new.account_id);
  elsif tg_table_name = 'accounts' then
    perform pg_notify('callers', new.id);
  else
    perform pg_notify('callers', '');
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.notify_catalog_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('catalog', new.number::text);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'rows of % are never changed or deleted', tg_table_name;
end $function$;
