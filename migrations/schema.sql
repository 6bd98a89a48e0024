-- Written by `npm run generate` from the migrations; for reading, never run.

create table account_alerts (
  account_id text not null,
  low_balance_nano bigint,
  budget_percent integer,
  is_low boolean not null default false,
  low_count bigint not null default 0,
  low_mailed_at timestamp with time zone,
  changed_at timestamp with time zone not null,
  constraint account_alerts_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint account_alerts_account_unique PRIMARY KEY (account_id),
  constraint account_alerts_valid CHECK (low_balance_nano > 0 AND budget_percent >= 1 AND budget_percent <= 100)
);

create table account_notes (
  id text not null,
  account_id text not null,
  author text not null,
  text text not null,
  created_at timestamp with time zone not null,
  constraint account_notes_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint account_notes_id_unique PRIMARY KEY (id),
  constraint account_notes_id_valid CHECK (id ~~ 'note\_%'::text),
  constraint account_notes_text_valid CHECK (length(text) >= 1 AND length(text) <= 4000)
);

CREATE INDEX account_notes_by_account ON account_notes USING btree (account_id, id);

create table account_notices (
  id text not null,
  account_id text not null,
  kind text not null,
  facts jsonb not null,
  created_at timestamp with time zone not null,
  sent_at timestamp with time zone,
  constraint account_notices_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint account_notices_id_unique PRIMARY KEY (id)
);

CREATE INDEX account_notices_by_account ON account_notices USING btree (account_id, created_at);

CREATE INDEX account_notices_unsent ON account_notices USING btree (created_at) WHERE sent_at IS NULL;

create table account_views (
  id text not null,
  account_id text not null,
  operator_id text not null,
  session_id text not null,
  reason text not null,
  created_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  ending text,
  constraint account_views_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint account_views_ending_valid CHECK ((ended_at IS NULL) = (ending IS NULL) AND (ending = ANY (ARRAY['ended'::text, 'replaced'::text, 'expired'::text, 'access-lost'::text]))),
  constraint account_views_id_unique PRIMARY KEY (id),
  constraint account_views_id_valid CHECK (id ~~ 'view\_%'::text),
  constraint account_views_reason_valid CHECK (length(reason) >= 1 AND length(reason) <= 500)
);

CREATE INDEX account_views_by_account ON account_views USING btree (account_id, id);

CREATE INDEX account_views_by_session ON account_views USING btree (session_id, ends_at);

CREATE INDEX account_views_open ON account_views USING btree (ends_at) WHERE ended_at IS NULL;

create table account_webhook_secrets (
  account_id text not null,
  sealed_secret bytea not null,
  sealed_previous_secret bytea,
  previous_secret_until timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint account_webhook_secrets_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint account_webhook_secrets_previous_secret_valid CHECK (num_nulls(sealed_previous_secret, previous_secret_until) = ANY (ARRAY[0, 2])),
  constraint account_webhook_secrets_unique PRIMARY KEY (account_id)
);

create table accounts (
  id text not null,
  email text not null,
  created_at timestamp with time zone not null,
  plan_id text,
  suspended_at timestamp with time zone,
  requests_per_minute integer,
  tokens_per_minute integer,
  concurrent_requests integer,
  tasks_in_flight integer,
  time_zone text not null default 'UTC'::text,
  closed_at timestamp with time zone,
  spend_capped_until timestamp with time zone,
  constraint accounts_email_valid CHECK (email ~~ '%_@_%'::text AND length(email) <= 254),
  constraint accounts_id_unique PRIMARY KEY (id),
  constraint accounts_id_valid CHECK (id ~~ 'acct\_%'::text),
  constraint accounts_limits_valid CHECK (requests_per_minute > 0 AND tokens_per_minute > 0 AND concurrent_requests > 0 AND tasks_in_flight > 0),
  constraint accounts_plan_exists FOREIGN KEY (plan_id) REFERENCES plans(id),
  constraint accounts_time_zone_valid CHECK (length(time_zone) >= 1 AND length(time_zone) <= 64)
);

CREATE INDEX accounts_by_plan ON accounts USING btree (plan_id);

CREATE UNIQUE INDEX accounts_email_unique ON accounts USING btree (lower(email));

CREATE TRIGGER accounts_changed AFTER UPDATE ON accounts FOR EACH ROW EXECUTE FUNCTION notify_caller_change();

CREATE TRIGGER accounts_have_wallets AFTER INSERT ON accounts FOR EACH ROW EXECUTE FUNCTION create_wallet();

create table admin_keys (
  id text not null,
  name text not null,
  hash bytea not null,
  last_four text not null,
  access text not null,
  scopes text[] not null,
  created_by text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  revoked_by text,
  constraint admin_keys_access_valid CHECK (access = ANY (ARRAY['read'::text, 'write'::text])),
  constraint admin_keys_hash_unique UNIQUE (hash),
  constraint admin_keys_hash_valid CHECK (octet_length(hash) = 32),
  constraint admin_keys_id_unique PRIMARY KEY (id),
  constraint admin_keys_id_valid CHECK (id ~~ 'akey\_%'::text),
  constraint admin_keys_name_valid CHECK (length(name) >= 1 AND length(name) <= 100),
  constraint admin_keys_revoked_complete CHECK ((revoked_at IS NULL) = (revoked_by IS NULL)),
  constraint admin_keys_scopes_valid CHECK (cardinality(scopes) > 0)
);

create table alarm_checks (
  rule text not null,
  checked_at timestamp with time zone not null,
  value_milli bigint,
  subject text,
  trouble text,
  constraint alarm_checks_unique PRIMARY KEY (rule)
);

create table alarm_events (
  alarm_id text not null,
  number integer not null,
  kind text not null,
  state text not null,
  actor text not null,
  note text,
  created_at timestamp with time zone not null,
  constraint alarm_events_alarm_exists FOREIGN KEY (alarm_id) REFERENCES alarms(id) ON DELETE CASCADE,
  constraint alarm_events_unique PRIMARY KEY (alarm_id, number)
);

create table alarm_notifications (
  id text not null,
  alarm_id text not null,
  channel text not null,
  facts jsonb not null,
  state text not null,
  attempts integer not null default 0,
  due_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  trouble text,
  constraint alarm_notifications_alarm_exists FOREIGN KEY (alarm_id) REFERENCES alarms(id) ON DELETE CASCADE,
  constraint alarm_notifications_channel_valid CHECK (channel = ANY (ARRAY['mail'::text, 'webhook'::text, 'slack'::text])),
  constraint alarm_notifications_state_valid CHECK (
CASE state
    WHEN 'waiting'::text THEN ended_at IS NULL
    WHEN 'sent'::text THEN ended_at IS NOT NULL
    WHEN 'failed'::text THEN ended_at IS NOT NULL
    ELSE false
END),
  constraint alarm_notifications_unique PRIMARY KEY (id)
);

CREATE INDEX alarm_notifications_by_alarm ON alarm_notifications USING btree (alarm_id);

CREATE INDEX alarm_notifications_due ON alarm_notifications USING btree (due_at) WHERE state = 'waiting'::text;

create table alarm_rules (
  rule text not null,
  is_on boolean not null,
  threshold_milli bigint,
  changed_at timestamp with time zone not null,
  changed_by text not null,
  constraint alarm_rules_unique PRIMARY KEY (rule)
);

create table alarms (
  id text not null,
  rule text not null,
  subject text not null,
  state text not null,
  value_milli bigint not null,
  message text not null,
  began_at timestamp with time zone not null,
  met_at timestamp with time zone not null,
  silenced_until timestamp with time zone,
  ended_at timestamp with time zone,
  constraint alarms_id_valid CHECK (id ~~ 'alarm\_%'::text),
  constraint alarms_state_valid CHECK (
CASE state
    WHEN 'pending'::text THEN num_nonnulls(silenced_until, ended_at) = 0
    WHEN 'firing'::text THEN num_nonnulls(silenced_until, ended_at) = 0
    WHEN 'acknowledged'::text THEN num_nonnulls(silenced_until, ended_at) = 0
    WHEN 'silenced'::text THEN silenced_until IS NOT NULL AND ended_at IS NULL
    WHEN 'resolved'::text THEN silenced_until IS NULL AND ended_at IS NOT NULL
    ELSE false
END),
  constraint alarms_unique PRIMARY KEY (id)
);

CREATE UNIQUE INDEX alarms_open_once ON alarms USING btree (rule, subject) WHERE state <> 'resolved'::text;

create table api_key_uses (
  key_id text not null,
  first_used_at timestamp with time zone not null,
  last_used_at timestamp with time zone not null,
  constraint api_key_uses_key_exists FOREIGN KEY (key_id) REFERENCES api_keys(id),
  constraint api_key_uses_unique PRIMARY KEY (key_id)
);

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
  is_console boolean not null default false,
  lineage_id text not null,
  logs_content boolean not null default false,
  constraint api_keys_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint api_keys_budget_period_valid CHECK ((budget_nano IS NULL) = (budget_period IS NULL) AND (budget_period = ANY (ARRAY['total'::text, 'day'::text, 'week'::text, 'month'::text]))),
  constraint api_keys_budget_valid CHECK (budget_nano >= 0),
  constraint api_keys_hash_unique UNIQUE (hash),
  constraint api_keys_hash_valid CHECK (octet_length(hash) = 32),
  constraint api_keys_id_unique PRIMARY KEY (id),
  constraint api_keys_id_valid CHECK (id ~~ 'key\_%'::text),
  constraint api_keys_limits_valid CHECK (requests_per_minute > 0 AND tokens_per_minute > 0 AND concurrent_requests > 0 AND tasks_in_flight > 0),
  constraint api_keys_lineage_exists FOREIGN KEY (lineage_id) REFERENCES api_keys(id),
  constraint api_keys_name_valid CHECK (length(name) >= 1 AND length(name) <= 100),
  constraint api_keys_scopes_valid CHECK (cardinality(model_ids) > 0 AND cardinality(endpoints) > 0 AND cardinality(addresses) > 0)
);

CREATE INDEX api_keys_by_account ON api_keys USING btree (account_id, id);

CREATE INDEX api_keys_by_lineage ON api_keys USING btree (lineage_id);

CREATE UNIQUE INDEX api_keys_one_console ON api_keys USING btree (account_id) WHERE is_console;

CREATE UNIQUE INDEX api_keys_one_for_each_client ON api_keys USING btree (account_id, name) WHERE name ~~ 'BA:%'::text AND revoked_at IS NULL;

CREATE TRIGGER api_keys_changed AFTER INSERT OR UPDATE ON api_keys FOR EACH ROW EXECUTE FUNCTION notify_caller_change();

CREATE TRIGGER api_keys_lineage BEFORE INSERT OR UPDATE ON api_keys FOR EACH ROW EXECUTE FUNCTION keep_key_lineage();

create table audit_entries (
  number bigint not null,
  created_at timestamp with time zone not null,
  actor_kind text not null,
  actor_id text,
  actor_name text not null,
  address text,
  action text not null,
  subject text,
  account_id text,
  reason text,
  before jsonb,
  after jsonb,
  request_id text,
  previous_hash bytea not null,
  hash bytea not null,
  who_salt bytea,
  who_digest bytea,
  facts_salt bytea,
  facts_digest bytea,
  erased_at timestamp with time zone,
  constraint audit_entries_action_valid CHECK (action ~ '^[a-z_]{1,40}\.[a-z_]{1,40}$'::text),
  constraint audit_entries_actor_valid CHECK ((actor_kind = ANY (ARRAY['operator'::text, 'key'::text, 'user'::text, 'command'::text, 'system'::text])) AND length(actor_name) >= 1 AND length(actor_name) <= 254),
  constraint audit_entries_number_unique PRIMARY KEY (number),
  constraint audit_entries_words_valid CHECK (length(reason) >= 1 AND length(reason) <= 500 AND length(subject) >= 1 AND length(subject) <= 254)
);

CREATE INDEX audit_entries_by_account ON audit_entries USING btree (account_id, number) WHERE account_id IS NOT NULL;

CREATE INDEX audit_entries_by_action ON audit_entries USING btree (action, number);

CREATE INDEX audit_entries_by_actor ON audit_entries USING btree (actor_id, number) WHERE actor_id IS NOT NULL;

CREATE INDEX audit_entries_by_subject ON audit_entries USING btree (subject, number) WHERE subject IS NOT NULL;

CREATE INDEX audit_entries_by_time ON audit_entries USING btree (created_at);

CREATE TRIGGER audit_entries_blanked BEFORE UPDATE ON audit_entries FOR EACH ROW EXECUTE FUNCTION keep_audit_entry();

CREATE TRIGGER audit_entries_chained BEFORE INSERT ON audit_entries FOR EACH ROW EXECUTE FUNCTION chain_audit_entry();

CREATE TRIGGER audit_entries_final BEFORE DELETE ON audit_entries FOR EACH ROW EXECUTE FUNCTION refuse_change();

create table auto_top_ups (
  account_id text not null,
  state text not null,
  stop_reason text,
  threshold_nano bigint not null,
  amount_nano bigint not null,
  amount_minor bigint not null,
  month_max_nano bigint not null,
  next_at timestamp with time zone not null,
  changed_at timestamp with time zone not null,
  constraint auto_top_ups_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint auto_top_ups_account_unique PRIMARY KEY (account_id),
  constraint auto_top_ups_amounts_valid CHECK (threshold_nano > 0 AND amount_nano >= threshold_nano AND amount_minor > 0 AND month_max_nano >= amount_nano),
  constraint auto_top_ups_state_valid CHECK (
CASE state
    WHEN 'on'::text THEN stop_reason IS NULL
    WHEN 'off'::text THEN stop_reason IS NULL
    WHEN 'stopped'::text THEN stop_reason = ANY (ARRAY['declined'::text, 'reversed'::text, 'review'::text])
    ELSE false
END)
);

CREATE INDEX auto_top_ups_on ON auto_top_ups USING btree (account_id) WHERE state = 'on'::text;

create table backup_runs (
  id text not null,
  kind text not null,
  finished_at timestamp with time zone not null,
  constraint backup_runs_kind_valid CHECK (kind = ANY (ARRAY['full'::text, 'base'::text])),
  constraint backup_runs_unique PRIMARY KEY (id)
);

create table billing_details (
  account_id text not null,
  legal_name text,
  address text,
  country text,
  tax_id text,
  purchase_order text,
  changed_at timestamp with time zone not null,
  constraint billing_details_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint billing_details_account_unique PRIMARY KEY (account_id),
  constraint billing_details_country_valid CHECK (country ~ '^[A-Z]{2}$'::text)
);

create table billing_documents (
  position bigint not null generated always as identity,
  id text not null,
  account_id text not null,
  kind text not null,
  prefix text not null,
  number bigint not null,
  issued_at timestamp with time zone not null,
  currency text not null,
  total_nano bigint not null,
  tax_nano bigint not null,
  payment_id text,
  channel text,
  corrects text,
  reversal_id text,
  month text,
  content jsonb not null,
  constraint billing_documents_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint billing_documents_amounts_valid CHECK (kind = 'statement'::text OR total_nano > 0 AND tax_nano >= 0 AND tax_nano <= total_nano),
  constraint billing_documents_corrected_exists FOREIGN KEY (corrects) REFERENCES billing_documents(id),
  constraint billing_documents_currency_valid CHECK (currency ~ '^[A-Z]{3}$'::text),
  constraint billing_documents_id_unique PRIMARY KEY (id),
  constraint billing_documents_kind_valid CHECK (
CASE kind
    WHEN 'invoice'::text THEN num_nulls(payment_id, channel) = 0 AND month IS NULL AND (num_nulls(corrects, reversal_id) = ANY (ARRAY[0, 2]))
    WHEN 'credit_note'::text THEN num_nulls(payment_id, channel, corrects, reversal_id) = 0 AND month IS NULL
    WHEN 'statement'::text THEN num_nonnulls(payment_id, channel, corrects, reversal_id) = 0 AND month IS NOT NULL
    ELSE false
END),
  constraint billing_documents_month_valid CHECK (month ~ '^\d{4}-\d{2}$'::text),
  constraint billing_documents_number_unique UNIQUE (kind, prefix, number)
);

CREATE INDEX billing_documents_by_account ON billing_documents USING btree (account_id, "position");

CREATE INDEX billing_documents_by_payment ON billing_documents USING btree (payment_id) WHERE payment_id IS NOT NULL;

CREATE INDEX billing_documents_by_position ON billing_documents USING btree ("position");

CREATE INDEX billing_documents_by_time ON billing_documents USING btree (issued_at);

CREATE UNIQUE INDEX billing_documents_one_invoice ON billing_documents USING btree (payment_id) WHERE corrects IS NULL;

CREATE UNIQUE INDEX billing_documents_one_statement ON billing_documents USING btree (account_id, month) WHERE month IS NOT NULL;

CREATE TRIGGER billing_documents_final BEFORE DELETE OR UPDATE ON billing_documents FOR EACH ROW EXECUTE FUNCTION refuse_change();

create table blocks (
  kind text not null,
  subject text not null,
  reason text not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  ends_at timestamp with time zone,
  constraint blocks_kind_valid CHECK (kind = ANY (ARRAY['network'::text, 'domain'::text, 'mailbox'::text, 'disposable'::text])),
  constraint blocks_subject_valid CHECK (length(subject) >= 1 AND length(subject) <= 254),
  constraint blocks_unique PRIMARY KEY (kind, subject)
);

CREATE TRIGGER blocks_changed AFTER INSERT OR DELETE OR UPDATE ON blocks FOR EACH STATEMENT EXECUTE FUNCTION notify_block_change();

create table buckets (
  id text not null,
  account_id text not null,
  kind text not null,
  unit text not null,
  expires_at timestamp with time zone,
  posted bigint not null,
  held bigint not null,
  entry_count bigint not null,
  is_open boolean not null,
  opened_at timestamp with time zone not null,
  constraint buckets_id_unique PRIMARY KEY (id)
);

CREATE INDEX buckets_by_account ON buckets USING btree (account_id);

CREATE INDEX buckets_open_by_account ON buckets USING btree (account_id) WHERE is_open;

CREATE INDEX buckets_open_by_expiry ON buckets USING btree (expires_at) WHERE is_open AND expires_at IS NOT NULL;

CREATE TRIGGER buckets_amounts_valid BEFORE INSERT OR UPDATE ON buckets FOR EACH ROW EXECUTE FUNCTION check_bucket_amounts();

CREATE TRIGGER buckets_kind_valid BEFORE INSERT OR UPDATE OF id, account_id, kind, unit ON buckets FOR EACH ROW EXECUTE FUNCTION check_bucket_kind();

create table catalog_prices (
  catalog_version integer not null,
  position integer not null,
  price_id text not null,
  constraint catalog_prices_price_exists FOREIGN KEY (price_id) REFERENCES prices(id),
  constraint catalog_prices_unique PRIMARY KEY (catalog_version, "position"),
  constraint catalog_prices_version_exists FOREIGN KEY (catalog_version) REFERENCES catalog_versions(number)
);

CREATE TRIGGER catalog_prices_final BEFORE DELETE OR UPDATE ON catalog_prices FOR EACH ROW EXECUTE FUNCTION refuse_change();

create table catalog_sources (
  catalog_version integer not null,
  source text not null,
  constraint catalog_sources_unique PRIMARY KEY (catalog_version),
  constraint catalog_sources_version_exists FOREIGN KEY (catalog_version) REFERENCES catalog_versions(number)
);

create table catalog_versions (
  number integer not null,
  currency text not null,
  providers json not null,
  models json not null,
  applied_at timestamp with time zone not null,
  multipliers jsonb not null default '[]'::jsonb,
  constraint catalog_versions_currency_valid CHECK (currency ~ '^[A-Z]{3}$'::text),
  constraint catalog_versions_number_unique PRIMARY KEY (number),
  constraint catalog_versions_number_valid CHECK (number > 0)
);

CREATE TRIGGER catalog_changed AFTER INSERT ON catalog_versions FOR EACH ROW EXECUTE FUNCTION notify_catalog_change();

CREATE TRIGGER catalog_versions_final BEFORE DELETE OR UPDATE ON catalog_versions FOR EACH ROW EXECUTE FUNCTION refuse_change();

create table charges (
  id text not null,
  hold_id text not null,
  account_id text not null,
  unit text not null,
  price_id text not null,
  item_names text[] not null,
  item_quantities bigint[] not null,
  item_rates_nano bigint[] not null,
  rates_per bigint not null,
  minimum_nano bigint not null,
  quota_units bigint not null,
  paid bigint not null,
  lost bigint not null,
  created_at timestamp with time zone not null,
  key_id text,
  constraint charges_id_unique PRIMARY KEY (id)
);

CREATE INDEX charges_by_account ON ONLY charges USING btree (account_id, created_at, id);

CREATE TRIGGER charges_final BEFORE DELETE OR UPDATE ON charges FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER charges_valid BEFORE INSERT ON charges FOR EACH ROW EXECUTE FUNCTION check_charge();

create table checkouts (
  id text not null,
  account_id text not null,
  amount_nano bigint not null,
  currency text not null,
  amount_minor bigint not null,
  state text not null,
  session_id text,
  session_url text,
  payment_id text,
  note text,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  completed_at timestamp with time zone,
  polled_at timestamp with time zone,
  ended_at timestamp with time zone,
  refunded_minor bigint not null,
  disputed_at timestamp with time zone,
  origin text not null default 'page'::text,
  card_save text,
  customer_id text,
  card_id text,
  declined_charges text[] not null default '{}'::text[],
  constraint checkouts_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint checkouts_amount_positive CHECK (amount_nano > 0 AND amount_minor > 0 AND refunded_minor >= 0),
  constraint checkouts_currency_valid CHECK (currency ~ '^[A-Z]{3}$'::text),
  constraint checkouts_id_unique PRIMARY KEY (id),
  constraint checkouts_id_valid CHECK (id ~~ 'chk\_%'::text),
  constraint checkouts_origin_valid CHECK (
CASE origin
    WHEN 'page'::text THEN card_id IS NULL AND (card_save IS NULL OR (card_save = ANY (ARRAY['wanted'::text, 'done'::text])))
    WHEN 'automatic'::text THEN card_id IS NOT NULL AND customer_id IS NOT NULL AND card_save IS NULL AND session_id IS NULL
    WHEN 'external'::text THEN card_id IS NULL AND card_save IS NULL AND session_id IS NULL AND payment_id ~~ 'external:%'::text
    ELSE false
END),
  constraint checkouts_payment_unique UNIQUE (payment_id),
  constraint checkouts_session_unique UNIQUE (session_id),
  constraint checkouts_state_valid CHECK (
CASE state
    WHEN 'open'::text THEN ended_at IS NULL
    WHEN 'paid'::text THEN ended_at IS NOT NULL
    WHEN 'expired'::text THEN ended_at IS NOT NULL
    WHEN 'failed'::text THEN ended_at IS NOT NULL AND note IS NOT NULL
    WHEN 'mismatched'::text THEN ended_at IS NOT NULL AND note IS NOT NULL
    ELSE false
END)
);

CREATE INDEX checkouts_automatic ON checkouts USING btree (account_id, created_at) WHERE origin = 'automatic'::text;

CREATE INDEX checkouts_by_account ON checkouts USING btree (account_id, id);

CREATE INDEX checkouts_by_time ON checkouts USING btree (created_at, id);

CREATE INDEX checkouts_card_wanted ON checkouts USING btree (ended_at) WHERE card_save = 'wanted'::text AND state = 'paid'::text;

CREATE UNIQUE INDEX checkouts_one_automatic ON checkouts USING btree (account_id) WHERE origin = 'automatic'::text AND state = 'open'::text;

CREATE INDEX checkouts_open ON checkouts USING btree (created_at) WHERE state = 'open'::text;

CREATE INDEX checkouts_paid ON checkouts USING btree (ended_at) WHERE state = 'paid'::text;

CREATE TRIGGER checkouts_paid_final BEFORE DELETE OR UPDATE ON checkouts FOR EACH ROW WHEN (old.state = 'paid'::text) EXECUTE FUNCTION keep_paid_checkout();

create table clawbacks (
  id text not null,
  account_id text not null,
  channel text not null,
  cause_kind text not null,
  cause_id text not null,
  owed_nano bigint not null,
  taken_nano bigint not null,
  waived_nano bigint not null,
  step_count integer not null,
  created_at timestamp with time zone not null,
  changed_at timestamp with time zone not null,
  constraint clawbacks_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint clawbacks_amounts_valid CHECK (owed_nano >= 0 AND taken_nano >= 0 AND waived_nano >= 0 AND (taken_nano + waived_nano) <= owed_nano AND step_count >= 0),
  constraint clawbacks_id_unique PRIMARY KEY (id)
);

CREATE INDEX clawbacks_by_cause ON clawbacks USING btree (cause_id);

CREATE INDEX clawbacks_unpaid ON clawbacks USING btree (account_id, created_at) WHERE owed_nano > (taken_nano + waived_nano);

create table code_batches (
  id text not null,
  kind text not null,
  amount_nano bigint not null,
  currency text not null,
  gift_days integer,
  note text not null,
  code_count integer not null,
  created_by text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  constraint code_batches_amounts_valid CHECK (amount_nano > 0 AND code_count > 0),
  constraint code_batches_id_valid CHECK (id ~~ 'batch\_%'::text),
  constraint code_batches_unique PRIMARY KEY (id)
);

create table connect_requests (
  id text not null,
  kind text not null,
  client text not null,
  state text not null,
  redirect_uri text,
  client_state text,
  code_challenge text,
  user_code text,
  polled_at timestamp with time zone,
  poll_seconds integer,
  secret_hash bytea,
  session_id text,
  user_id text,
  account_id text,
  key_days integer,
  budget_nano bigint,
  key_id text,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  client_address text,
  client_user_agent text,
  constraint connect_requests_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint connect_requests_client_valid CHECK (client ~ '^[A-Za-z0-9._-]{2,64}$'::text),
  constraint connect_requests_id_unique PRIMARY KEY (id),
  constraint connect_requests_kind_valid CHECK (
CASE kind
    WHEN 'browser'::text THEN num_nulls(redirect_uri, client_state) = 0 AND num_nonnulls(user_code, polled_at, poll_seconds) = 0
    WHEN 'device'::text THEN num_nulls(user_code, poll_seconds, secret_hash, client_address, client_user_agent) = 0 AND num_nonnulls(redirect_uri, client_state, code_challenge) = 0
    ELSE false
END),
  constraint connect_requests_owner_valid CHECK (num_nulls(session_id, user_id, account_id) = ANY (ARRAY[0, 3])),
  constraint connect_requests_secret_unique UNIQUE (secret_hash),
  constraint connect_requests_state_valid CHECK (
CASE state
    WHEN 'open'::text THEN key_id IS NULL
    WHEN 'denied'::text THEN key_id IS NULL AND account_id IS NOT NULL
    WHEN 'approved'::text THEN account_id IS NOT NULL
    WHEN 'delivered'::text THEN account_id IS NOT NULL AND key_id IS NOT NULL
    ELSE false
END),
  constraint connect_requests_user_code_unique UNIQUE (user_code)
);

CREATE INDEX connect_requests_by_expiry ON connect_requests USING btree (expires_at);

create table conversation_items (
  account_id text not null,
  conversation_id text not null,
  number bigint not null,
  id text not null,
  item text not null,
  constraint conversation_items_conversation_exists FOREIGN KEY (account_id, conversation_id) REFERENCES conversations(account_id, id) ON DELETE CASCADE,
  constraint conversation_items_id_unique UNIQUE (account_id, conversation_id, id),
  constraint conversation_items_unique PRIMARY KEY (account_id, conversation_id, number)
);

create table conversations (
  account_id text not null,
  id text not null,
  metadata text not null,
  item_count integer not null default 0,
  bytes bigint not null default 0,
  next_number bigint not null default 0,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint conversations_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint conversations_id_valid CHECK (id ~~ 'conv\_%'::text),
  constraint conversations_sums_valid CHECK (item_count >= 0 AND bytes >= 0),
  constraint conversations_unique PRIMARY KEY (account_id, id)
);

CREATE INDEX conversations_by_expiry ON conversations USING btree (expires_at);

CREATE TRIGGER conversations_counted AFTER INSERT OR DELETE OR UPDATE OF bytes, metadata ON conversations FOR EACH ROW EXECUTE FUNCTION count_conversation();

create table copy_states (
  is_only boolean not null default true,
  state text not null,
  restored_from text,
  restored_at timestamp with time zone,
  confirmed_at timestamp with time zone,
  constraint copy_states_one_row PRIMARY KEY (is_only),
  constraint copy_states_only_true CHECK (is_only),
  constraint copy_states_state_valid CHECK (state = ANY (ARRAY['live'::text, 'restoring'::text, 'unconfirmed'::text]))
);

CREATE TRIGGER copy_states_changed AFTER UPDATE ON copy_states FOR EACH ROW EXECUTE FUNCTION notify_copy_state();

create table deliveries (
  id text not null,
  event_id text not null,
  account_id text not null,
  endpoint_id text,
  url text not null,
  lane text not null,
  state text not null,
  attempt_count smallint not null,
  due_at timestamp with time zone,
  lease_id text,
  created_at timestamp with time zone not null,
  constraint deliveries_id_unique PRIMARY KEY (id, event_id),
  constraint deliveries_id_valid CHECK (id ~~ 'dlv\_%'::text),
  constraint deliveries_state_valid CHECK (
CASE state
    WHEN 'pending'::text THEN due_at IS NOT NULL
    WHEN 'succeeded'::text THEN num_nonnulls(due_at, lease_id) = 0
    WHEN 'failed'::text THEN num_nonnulls(due_at, lease_id) = 0
    WHEN 'dropped'::text THEN num_nonnulls(due_at, lease_id) = 0
    ELSE false
END)
);

CREATE INDEX deliveries_by_account ON ONLY deliveries USING btree (account_id, id);

CREATE INDEX deliveries_by_endpoint ON ONLY deliveries USING btree (endpoint_id, id) WHERE endpoint_id IS NOT NULL;

CREATE INDEX deliveries_by_event ON ONLY deliveries USING btree (event_id, id);

CREATE INDEX deliveries_by_lane ON ONLY deliveries USING btree (lane, due_at) WHERE state = 'pending'::text;

CREATE INDEX deliveries_failing ON ONLY deliveries USING btree (id) WHERE state = 'failed'::text OR state = 'pending'::text AND attempt_count > 0;

CREATE UNIQUE INDEX deliveries_pending_once ON ONLY deliveries USING btree (event_id, lane) WHERE state = 'pending'::text;

create table delivery_attempts (
  delivery_id text not null,
  number smallint not null,
  lease_id text not null,
  attempted_at timestamp with time zone not null,
  duration_ms integer not null,
  status smallint,
  error text,
  answer text,
  constraint delivery_attempts_outcome_valid CHECK (num_nulls(status, error) < 2),
  constraint delivery_attempts_unique PRIMARY KEY (delivery_id, number, lease_id)
);

create table document_series (
  kind text not null,
  prefix text not null,
  last_number bigint not null,
  constraint document_series_number_valid CHECK (last_number > 0),
  constraint document_series_unique PRIMARY KEY (kind, prefix)
);

create table erasures (
  account_id text not null,
  erased_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  constraint erasures_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint erasures_account_unique PRIMARY KEY (account_id),
  constraint erasures_order CHECK (ends_at > erased_at)
);

CREATE INDEX erasures_by_end ON erasures USING btree (ends_at);

create table event_inboxes (
  account_id text not null,
  opened_at timestamp with time zone not null,
  constraint event_inboxes_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint event_inboxes_unique PRIMARY KEY (account_id)
);

create table events (
  id text not null,
  account_id text not null,
  type text not null,
  data json not null,
  created_at timestamp with time zone not null,
  traceparent text,
  constraint events_id_unique PRIMARY KEY (id),
  constraint events_id_valid CHECK (id ~~ 'evt\_%'::text)
);

CREATE INDEX events_by_account ON ONLY events USING btree (account_id, id);

CREATE INDEX events_by_task ON ONLY events USING btree (account_id, (data ->> 'task_id'::text), id);

create table file_usages (
  account_id text not null,
  files bigint not null,
  bytes bigint not null,
  constraint file_usages_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint file_usages_account_unique PRIMARY KEY (account_id),
  constraint file_usages_valid CHECK (files >= 0 AND bytes >= 0)
);

create table files (
  id text not null,
  account_id text not null,
  purpose text not null,
  kind text not null,
  content_type text not null,
  bytes bigint not null,
  sha256 bytea not null,
  filename text not null,
  width integer,
  height integer,
  duration_ms bigint,
  storage_key text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  is_withheld boolean not null default false,
  constraint files_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint files_bytes_valid CHECK (bytes > 0),
  constraint files_document_valid CHECK (kind <> 'document'::text OR purpose = 'output'::text AND (content_type = ANY (ARRAY['application/json'::text, 'text/vtt'::text]))),
  constraint files_filename_valid CHECK (char_length(filename) >= 1 AND char_length(filename) <= 255),
  constraint files_id_unique PRIMARY KEY (id),
  constraint files_kind_valid CHECK (kind = ANY (ARRAY['image'::text, 'audio'::text, 'video'::text, 'document'::text, 'pdf'::text])),
  constraint files_purpose_valid CHECK (purpose = ANY (ARRAY['generation'::text, 'vision'::text, 'user_data'::text, 'assistants'::text, 'output'::text])),
  constraint files_sha256_valid CHECK (octet_length(sha256) = 32),
  constraint files_storage_key_unique UNIQUE (storage_key)
);

CREATE INDEX files_by_account ON files USING btree (account_id, id DESC);

CREATE INDEX files_by_expiry ON files USING btree (expires_at);

create table holds (
  id text not null,
  account_id text not null,
  unit text not null,
  amount bigint not null,
  bucket_ids text[] not null,
  bucket_amounts bigint[] not null,
  state text not null,
  settled bigint not null,
  refusal text,
  missing bigint,
  fingerprint text not null,
  settlement_fingerprint text,
  key_id text,
  budget_starts_at timestamp with time zone,
  cause_kind text not null,
  cause_id text not null,
  expires_at timestamp with time zone not null,
  opened_at timestamp with time zone not null,
  resolved_at timestamp with time zone,
  constraint holds_id_unique PRIMARY KEY (id)
);

CREATE INDEX holds_open_by_account ON holds USING btree (account_id) WHERE state = 'open'::text;

CREATE INDEX holds_open_by_expiry ON holds USING btree (expires_at) WHERE state = 'open'::text;

CREATE INDEX holds_refused_by_end ON holds USING btree (resolved_at) WHERE state = 'refused'::text;

CREATE TRIGGER holds_state_valid BEFORE INSERT OR UPDATE ON holds FOR EACH ROW EXECUTE FUNCTION check_hold();

create table idempotency_keys (
  account_id text not null,
  key text not null,
  fingerprint bytea not null,
  request_id text not null,
  hold_id text,
  state text not null,
  lease_until timestamp with time zone not null,
  status smallint,
  content_type text,
  body bytea,
  summary text,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint idempotency_keys_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint idempotency_keys_key_valid CHECK (key ~ '^(response )?[\x21-\x7e]{1,255}$'::text),
  constraint idempotency_keys_state_valid CHECK (
CASE state
    WHEN 'running'::text THEN num_nonnulls(status, content_type, body, summary) = 0
    WHEN 'finished'::text THEN num_nulls(status, content_type, summary) = 0
    ELSE false
END),
  constraint idempotency_keys_unique PRIMARY KEY (account_id, key)
);

CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys USING btree (expires_at);

create table incident_updates (
  incident_id text not null,
  number integer not null,
  state text not null,
  message text not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  constraint incident_updates_incident_exists FOREIGN KEY (incident_id) REFERENCES incidents(id),
  constraint incident_updates_message_valid CHECK (length(message) >= 1 AND length(message) <= 5000),
  constraint incident_updates_unique PRIMARY KEY (incident_id, number)
);

create table incidents (
  id text not null,
  title text not null,
  state text not null,
  model_ids text[] not null,
  began_at timestamp with time zone not null,
  changed_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint incidents_id_valid CHECK (id ~~ 'inc\_%'::text),
  constraint incidents_state_valid CHECK (
CASE state
    WHEN 'investigating'::text THEN ended_at IS NULL
    WHEN 'identified'::text THEN ended_at IS NULL
    WHEN 'monitoring'::text THEN ended_at IS NULL
    WHEN 'resolved'::text THEN ended_at IS NOT NULL
    ELSE false
END),
  constraint incidents_title_valid CHECK (length(title) >= 1 AND length(title) <= 200),
  constraint incidents_unique PRIMARY KEY (id)
);

CREATE INDEX incidents_by_change ON incidents USING btree (changed_at);

create table invoice_terms (
  version integer not null,
  terms json not null,
  actor text not null,
  applied_at timestamp with time zone not null,
  constraint invoice_terms_version_unique PRIMARY KEY (version),
  constraint invoice_terms_version_valid CHECK (version > 0)
);

CREATE TRIGGER invoice_terms_final BEFORE DELETE OR UPDATE ON invoice_terms FOR EACH ROW EXECUTE FUNCTION refuse_change();

create table key_spending (
  key_id text not null,
  starts_at timestamp with time zone not null,
  account_id text not null,
  held bigint not null,
  spent bigint not null,
  constraint key_spending_unique PRIMARY KEY (key_id, starts_at),
  constraint key_spending_valid CHECK (held >= 0 AND spent >= 0)
);

create table ledger_checks (
  checked_at timestamp with time zone not null,
  checked_number bigint not null,
  previous_number bigint not null,
  only_one boolean not null default true,
  whole_account_id text,
  whole_unsealed_id text,
  whole_hold_id text,
  constraint ledger_checks_one_row PRIMARY KEY (only_one),
  constraint ledger_checks_only_one CHECK (only_one)
);

create table ledger_currencies (
  currency text not null,
  only_one boolean not null default true,
  constraint ledger_currencies_one_row PRIMARY KEY (only_one),
  constraint ledger_currencies_only_one CHECK (only_one),
  constraint ledger_currencies_valid CHECK (currency ~ '^[A-Z]{3}$'::text)
);

create table ledger_sealed_sums (
  account_id text not null,
  about text not null,
  name text not null,
  entries bigint not null,
  total bigint not null,
  constraint ledger_sealed_sums_about_valid CHECK (about = ANY (ARRAY['bucket'::text, 'unit'::text, 'spending'::text, 'reversal'::text, 'code'::text])),
  constraint ledger_sealed_sums_unique PRIMARY KEY (account_id, about, name)
);

create table ledger_seals (
  account_id text not null,
  number bigint not null,
  wallet_version bigint not null,
  sealed_at timestamp with time zone not null,
  constraint ledger_seals_unique PRIMARY KEY (account_id)
);

create table ledger_verifications (
  id text not null,
  scope text not null,
  state text not null,
  asked_by text not null,
  asked_at timestamp with time zone not null,
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  accounts bigint,
  entries bigint,
  holds bigint,
  violation_count integer not null default 0,
  violations jsonb not null default '[]'::jsonb,
  constraint ledger_verifications_id_valid CHECK (id ~~ 'ver\_%'::text),
  constraint ledger_verifications_scope_valid CHECK (scope = ANY (ARRAY['new'::text, 'whole'::text])),
  constraint ledger_verifications_state_valid CHECK (
CASE state
    WHEN 'waiting'::text THEN num_nonnulls(started_at, ended_at) = 0
    WHEN 'running'::text THEN started_at IS NOT NULL AND ended_at IS NULL
    WHEN 'passed'::text THEN num_nulls(started_at, ended_at) = 0
    WHEN 'failed'::text THEN num_nulls(started_at, ended_at) = 0
    ELSE false
END),
  constraint ledger_verifications_unique PRIMARY KEY (id)
);

CREATE UNIQUE INDEX ledger_verifications_one_open ON ledger_verifications USING btree ((true)) WHERE state = ANY (ARRAY['waiting'::text, 'running'::text]);

create table money_slot_progress (
  is_only boolean not null default true,
  covered_from timestamp with time zone not null,
  covered_until timestamp with time zone not null,
  constraint money_slot_progress_only CHECK (is_only),
  constraint money_slot_progress_order CHECK (covered_from <= covered_until),
  constraint money_slot_progress_unique PRIMARY KEY (is_only)
);

create table money_slots (
  slot_at timestamp with time zone not null,
  calls bigint not null,
  unknown_calls bigint not null,
  revenue_nano bigint not null,
  cost_nano bigint not null,
  sold_nano bigint not null,
  given_nano bigint not null,
  refunded_nano bigint not null,
  reversed_nano bigint not null,
  expired_nano bigint not null,
  adjusted_nano bigint not null,
  constraint money_slots_unique PRIMARY KEY (slot_at)
);

create table operator_actions (
  id text not null,
  actor text not null,
  action text not null,
  reason text not null,
  created_at timestamp with time zone not null,
  constraint operator_actions_id_unique PRIMARY KEY (id),
  constraint operator_actions_id_valid CHECK (id ~~ 'act\_%'::text),
  constraint operator_actions_words_valid CHECK (length(actor) >= 1 AND length(actor) <= 200 AND length(reason) >= 1 AND length(reason) <= 500)
);

CREATE TRIGGER operator_actions_final BEFORE DELETE OR UPDATE ON operator_actions FOR EACH ROW EXECUTE FUNCTION refuse_change();

create table operators (
  user_id text not null,
  role text not null,
  granted_by text not null,
  granted_at timestamp with time zone not null,
  constraint operators_role_valid CHECK (role = ANY (ARRAY['operator'::text, 'reader'::text])),
  constraint operators_user_exists FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint operators_user_unique PRIMARY KEY (user_id)
);

create table payment_reversals (
  id text not null,
  number bigint not null generated always as identity,
  checkout_id text not null,
  kind text not null,
  status text not null,
  amount_minor bigint not null,
  reason text,
  received_at timestamp with time zone not null,
  changed_at timestamp with time zone not null,
  constraint payment_reversals_amount_valid CHECK (amount_minor >= 0),
  constraint payment_reversals_checkout_exists FOREIGN KEY (checkout_id) REFERENCES checkouts(id),
  constraint payment_reversals_id_unique PRIMARY KEY (id),
  constraint payment_reversals_kind_valid CHECK (kind = ANY (ARRAY['refund'::text, 'dispute'::text]))
);

CREATE INDEX payment_reversals_by_checkout ON payment_reversals USING btree (checkout_id, number);

CREATE INDEX payment_reversals_by_number ON payment_reversals USING btree (number);

create table plan_periods (
  id text not null,
  account_id text not null,
  plan_id text not null,
  plan_name text not null,
  anchored_at timestamp with time zone not null,
  starts_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  is_latest boolean not null,
  constraint plan_periods_id_unique PRIMARY KEY (id),
  constraint plan_periods_id_valid CHECK (id ~~ 'per\_%'::text),
  constraint plan_periods_length_valid CHECK (ends_at >= starts_at)
);

CREATE INDEX plan_periods_latest_by_end ON plan_periods USING btree (ends_at) WHERE is_latest;

CREATE UNIQUE INDEX plan_periods_one_latest ON plan_periods USING btree (account_id) WHERE is_latest;

create table plan_subscriptions (
  account_id text not null,
  plan_id text not null,
  price_nano bigint not null,
  bought_at timestamp with time zone not null,
  canceled_at timestamp with time zone,
  constraint plan_subscriptions_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint plan_subscriptions_account_unique PRIMARY KEY (account_id),
  constraint plan_subscriptions_plan_exists FOREIGN KEY (plan_id) REFERENCES plans(id),
  constraint plan_subscriptions_price_positive CHECK (price_nano > 0)
);

create table plans (
  id text not null,
  name text not null,
  requests_per_minute integer,
  tokens_per_minute integer,
  concurrent_requests integer,
  tasks_in_flight integer,
  created_at timestamp with time zone not null,
  period text not null default 'month'::text,
  quota_text bigint not null default 0,
  quota_image bigint not null default 0,
  quota_video bigint not null default 0,
  quota_weights jsonb,
  price_nano bigint,
  is_for_sale boolean not null default false,
  constraint plans_id_unique PRIMARY KEY (id),
  constraint plans_id_valid CHECK (id ~ '^[a-z0-9][a-z0-9_-]{0,63}$'::text),
  constraint plans_limits_valid CHECK (requests_per_minute > 0 AND tokens_per_minute > 0 AND concurrent_requests > 0 AND tasks_in_flight > 0),
  constraint plans_name_valid CHECK (length(name) >= 1 AND length(name) <= 100),
  constraint plans_period_valid CHECK (period = ANY (ARRAY['day'::text, 'week'::text, 'month'::text])),
  constraint plans_price_valid CHECK (price_nano > 0 AND (price_nano IS NOT NULL OR NOT is_for_sale)),
  constraint plans_quotas_valid CHECK (quota_text >= 0 AND quota_image >= 0 AND quota_video >= 0)
);

CREATE TRIGGER plans_changed AFTER UPDATE ON plans FOR EACH ROW EXECUTE FUNCTION notify_caller_change();

create table postings (
  number bigint not null generated always as identity,
  id text not null,
  leg smallint not null,
  account_id text not null,
  kind text not null,
  unit text not null,
  debit text not null,
  credit text not null,
  amount bigint not null,
  bucket_id text,
  entry_number bigint,
  balance_after bigint,
  refund_of text,
  fingerprint text not null,
  cause_kind text not null,
  cause_id text not null,
  created_at timestamp with time zone not null,
  constraint postings_entry_unique UNIQUE (bucket_id, entry_number),
  constraint postings_id_unique PRIMARY KEY (id, leg)
);

CREATE INDEX postings_by_account ON postings USING btree (account_id, number);

CREATE INDEX postings_of_credit ON postings USING btree (created_at, number) WHERE kind <> 'charge'::text AND kind <> 'loss'::text;

CREATE INDEX postings_refunds ON postings USING btree (refund_of) WHERE refund_of IS NOT NULL;

CREATE TRIGGER postings_final BEFORE DELETE OR UPDATE ON postings FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER postings_kind_valid BEFORE INSERT ON postings FOR EACH ROW EXECUTE FUNCTION check_posting_kind();

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
  cache_write_5m_price_nano bigint,
  cache_write_1h_price_nano bigint,
  audio_input_price_nano bigint,
  reasoning_price_nano bigint,
  audio_output_price_nano bigint,
  terms jsonb,
  constraint prices_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint prices_amounts_complete CHECK (
CASE billing_type
    WHEN 'token'::text THEN price_nano IS NULL AND num_nulls(input_price_nano, output_price_nano) = 0
    WHEN 'per_call'::text THEN price_nano IS NOT NULL AND num_nonnulls(input_price_nano, output_price_nano, cached_input_price_nano, cache_write_5m_price_nano, cache_write_1h_price_nano, audio_input_price_nano, reasoning_price_nano, audio_output_price_nano) = 0
    WHEN 'duration'::text THEN price_nano IS NOT NULL AND num_nonnulls(input_price_nano, output_price_nano, cached_input_price_nano, cache_write_5m_price_nano, cache_write_1h_price_nano, audio_input_price_nano, reasoning_price_nano, audio_output_price_nano) = 0
    ELSE false
END),
  constraint prices_amounts_positive CHECK (price_nano >= 0 AND input_price_nano >= 0 AND output_price_nano >= 0 AND cached_input_price_nano >= 0 AND cache_write_5m_price_nano >= 0 AND cache_write_1h_price_nano >= 0 AND audio_input_price_nano >= 0 AND reasoning_price_nano >= 0 AND audio_output_price_nano >= 0 AND minimum_charge_nano >= 0),
  constraint prices_id_unique PRIMARY KEY (id),
  constraint prices_id_valid CHECK (id ~~ 'price\_%'::text),
  constraint prices_plan_exists FOREIGN KEY (plan_id) REFERENCES plans(id),
  constraint prices_scope_valid CHECK (plan_id IS NULL OR account_id IS NULL)
);

CREATE TRIGGER prices_final BEFORE DELETE OR UPDATE ON prices FOR EACH ROW EXECUTE FUNCTION refuse_change();

create table redeem_codes (
  id text not null,
  hash bytea not null,
  last_four text not null,
  kind text not null,
  amount_nano bigint not null,
  currency text not null,
  gift_days integer,
  note text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  voided_at timestamp with time zone,
  redeemed_at timestamp with time zone,
  redeemed_by text,
  batch_id text,
  constraint redeem_codes_amount_positive CHECK (amount_nano > 0),
  constraint redeem_codes_batch_exists FOREIGN KEY (batch_id) REFERENCES code_batches(id),
  constraint redeem_codes_ended_once CHECK (voided_at IS NULL OR redeemed_at IS NULL),
  constraint redeem_codes_gift_days_positive CHECK (gift_days > 0),
  constraint redeem_codes_hash_unique UNIQUE (hash),
  constraint redeem_codes_id_unique PRIMARY KEY (id),
  constraint redeem_codes_id_valid CHECK (id ~~ 'code\_%'::text),
  constraint redeem_codes_kind_valid CHECK ((kind = ANY (ARRAY['cash'::text, 'gift'::text])) AND (kind = 'gift'::text OR gift_days IS NULL)),
  constraint redeem_codes_redeemed_complete CHECK ((redeemed_at IS NULL) = (redeemed_by IS NULL))
);

CREATE INDEX redeem_codes_by_batch ON redeem_codes USING btree (batch_id, id) WHERE batch_id IS NOT NULL;

create table request_blocks (
  account_id text not null,
  created_at timestamp with time zone not null,
  id text not null,
  first_at timestamp with time zone not null,
  calls integer not null,
  key_ids text[] not null,
  wires text[] not null,
  models text[] not null,
  statuses integer[] not null,
  error_codes text[] not null,
  client_id_hashes integer[] not null,
  body bytea not null,
  constraint request_blocks_calls_valid CHECK (calls >= 0),
  constraint request_blocks_order CHECK (first_at <= created_at),
  constraint request_blocks_unique PRIMARY KEY (account_id, created_at, id)
);

CREATE INDEX request_blocks_by_time ON ONLY request_blocks USING brin (created_at);

create table request_contents (
  account_id text not null,
  created_at timestamp with time zone not null,
  id text not null,
  state text not null,
  sealed bytea,
  constraint request_contents_sealed_while_kept CHECK ((state = 'kept'::text) = (sealed IS NOT NULL)),
  constraint request_contents_state_valid CHECK (state = ANY (ARRAY['kept'::text, 'lost'::text, 'deleted'::text])),
  constraint request_contents_unique PRIMARY KEY (account_id, created_at, id)
);

create table request_errors (
  account_id text not null,
  created_at timestamp with time zone not null,
  id text not null,
  message text not null,
  param text,
  constraint request_errors_unique PRIMARY KEY (account_id, created_at, id)
);

create table request_gaps (
  account_id text not null,
  id text not null,
  from_at timestamp with time zone not null,
  to_at timestamp with time zone not null,
  lost integer not null,
  constraint request_gaps_lost_positive CHECK (lost > 0),
  constraint request_gaps_order CHECK (to_at >= from_at),
  constraint request_gaps_unique PRIMARY KEY (account_id, id)
);

CREATE INDEX request_gaps_by_end ON request_gaps USING btree (to_at);

create table requests (
  account_id text not null,
  created_at timestamp with time zone not null,
  id text not null,
  key_id text not null,
  client_request_id text,
  wire text,
  method text not null,
  route text,
  model text,
  status smallint not null,
  error_code text,
  ending text not null,
  duration_ms integer not null,
  first_token_ms integer,
  input_tokens integer,
  cached_input_tokens integer,
  cache_write_tokens integer,
  output_tokens integer,
  reasoning_tokens integer,
  audio_input_tokens integer,
  audio_output_tokens integer,
  charge_nano bigint,
  charge_id text,
  task_id text,
  user_agent text,
  is_replayed boolean not null,
  upstream text,
  failed_attempts text,
  constraint requests_ending_valid CHECK (ending = ANY (ARRAY['answered'::text, 'refused'::text, 'failed'::text, 'hung_up'::text, 'broken_off'::text])),
  constraint requests_unique PRIMARY KEY (account_id, created_at, id)
);

CREATE INDEX requests_by_client_id ON ONLY requests USING btree (account_id, client_request_id, created_at) WHERE client_request_id IS NOT NULL;

CREATE INDEX requests_by_error ON ONLY requests USING btree (account_id, error_code, created_at) WHERE error_code IS NOT NULL;

CREATE INDEX requests_by_key ON ONLY requests USING btree (account_id, key_id, created_at);

CREATE INDEX requests_by_model ON ONLY requests USING btree (account_id, model, created_at) WHERE model IS NOT NULL;

CREATE INDEX requests_by_status ON ONLY requests USING btree (account_id, status, created_at) WHERE status >= 400;

CREATE INDEX requests_by_wire ON ONLY requests USING btree (account_id, wire, created_at) WHERE wire <> 'chat'::text;

create table responses (
  account_id text not null,
  id text not null,
  previous_id text,
  state text not null,
  input text not null,
  body text not null,
  bytes integer not null,
  item_ids text[],
  events text,
  lease_until timestamp with time zone,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  work text,
  run integer not null default 0,
  constraint responses_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint responses_id_valid CHECK (id ~~ 'resp\_%'::text),
  constraint responses_state_valid CHECK (
CASE state
    WHEN 'in_progress'::text THEN lease_until IS NOT NULL
    WHEN 'completed'::text THEN lease_until IS NULL
    WHEN 'incomplete'::text THEN lease_until IS NULL
    WHEN 'failed'::text THEN lease_until IS NULL
    WHEN 'cancelled'::text THEN lease_until IS NULL
    ELSE false
END),
  constraint responses_unique PRIMARY KEY (account_id, id)
);

CREATE INDEX responses_by_expiry ON responses USING btree (expires_at);

CREATE INDEX responses_by_item ON responses USING gin (item_ids) WHERE item_ids IS NOT NULL;

CREATE INDEX responses_by_lease ON responses USING btree (lease_until) WHERE lease_until IS NOT NULL;

CREATE INDEX responses_by_previous ON responses USING btree (account_id, previous_id) WHERE previous_id IS NOT NULL;

CREATE TRIGGER responses_counted AFTER INSERT OR DELETE OR UPDATE OF bytes, events ON responses FOR EACH ROW EXECUTE FUNCTION count_response();

create table saved_cards (
  account_id text not null,
  customer_id text not null,
  card_id text not null,
  brand text not null,
  last4 text not null,
  exp_month integer not null,
  exp_year integer not null,
  saved_at timestamp with time zone not null,
  constraint saved_cards_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint saved_cards_account_unique PRIMARY KEY (account_id)
);

create table scheduled_catalogs (
  id text not null,
  source text not null,
  reason text not null,
  base_version integer not null,
  run_at timestamp with time zone not null,
  status text not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  finished_at timestamp with time zone,
  version integer,
  failure text,
  constraint scheduled_catalogs_end_valid CHECK ((status = 'waiting'::text) = (finished_at IS NULL)),
  constraint scheduled_catalogs_id_unique PRIMARY KEY (id),
  constraint scheduled_catalogs_id_valid CHECK (id ~~ 'csch\_%'::text),
  constraint scheduled_catalogs_reason_valid CHECK (length(reason) >= 1 AND length(reason) <= 500),
  constraint scheduled_catalogs_status_valid CHECK (status = ANY (ARRAY['waiting'::text, 'applied'::text, 'failed'::text, 'canceled'::text]))
);

CREATE INDEX scheduled_catalogs_waiting ON scheduled_catalogs USING btree (run_at) WHERE status = 'waiting'::text;

create table scheduled_jobs (
  name text not null,
  schedule jsonb not null,
  due_at timestamp with time zone not null,
  leased_until timestamp with time zone,
  fencing_token integer not null,
  constraint scheduled_jobs_name_unique PRIMARY KEY (name)
);

create table schema_migrations (
  number integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone not null default now(),
  compatible_from integer,
  constraint schema_migrations_pkey PRIMARY KEY (number)
);

create table secrets (
  name text not null,
  version integer not null,
  sealed_value bytea not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  retired_at timestamp with time zone,
  last_used_at timestamp with time zone,
  constraint secrets_name_valid CHECK (name ~ '^[A-Za-z_][A-Za-z0-9_]{0,127}$'::text),
  constraint secrets_unique PRIMARY KEY (name, version),
  constraint secrets_version_valid CHECK (version > 0)
);

CREATE UNIQUE INDEX secrets_current ON secrets USING btree (name) WHERE retired_at IS NULL;

CREATE TRIGGER secrets_changed AFTER INSERT OR DELETE OR UPDATE OF retired_at ON secrets FOR EACH STATEMENT EXECUTE FUNCTION notify_upstream_change();

create table sign_ups (
  id text not null,
  created_at timestamp with time zone not null,
  network text not null,
  mail_domain text not null,
  account_id text,
  refusal text,
  cap_lifted_at timestamp with time zone,
  constraint sign_ups_id_valid CHECK (id ~~ 'sup\_%'::text),
  constraint sign_ups_outcome_valid CHECK ((account_id IS NULL) = (refusal IS NOT NULL)),
  constraint sign_ups_refusal_valid CHECK (refusal = ANY (ARRAY['blocked'::text, 'disposable'::text, 'network-limit'::text, 'domain-limit'::text])),
  constraint sign_ups_unique PRIMARY KEY (id)
);

CREATE UNIQUE INDEX sign_ups_by_account ON sign_ups USING btree (account_id) WHERE account_id IS NOT NULL;

CREATE INDEX sign_ups_by_domain ON sign_ups USING btree (mail_domain, created_at);

CREATE INDEX sign_ups_by_network ON sign_ups USING btree (network, created_at);

CREATE INDEX sign_ups_by_time ON sign_ups USING btree (created_at);

create table statement_months (
  month text not null,
  done_until text not null,
  is_done boolean not null default false,
  constraint statement_months_unique PRIMARY KEY (month)
);

create table stored_texts (
  account_id text not null,
  shard smallint not null,
  bytes bigint not null,
  constraint stored_texts_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint stored_texts_unique PRIMARY KEY (account_id, shard)
);

create table stripe_progress (
  polled_until timestamp with time zone not null,
  only_one boolean not null default true,
  constraint stripe_progress_one_row PRIMARY KEY (only_one),
  constraint stripe_progress_only_one CHECK (only_one)
);

create table submission_times (
  place text not null,
  next_at timestamp with time zone not null,
  constraint submission_times_place_unique PRIMARY KEY (place)
);

create table task_counts (
  owner_id text not null,
  open_tasks integer not null,
  constraint task_counts_owner_unique PRIMARY KEY (owner_id),
  constraint task_counts_valid CHECK (open_tasks >= 0)
);

create table task_leases (
  task_id text not null,
  next_poll_at timestamp with time zone not null,
  fencing_token integer not null,
  polls integer not null,
  rested_at timestamp with time zone,
  hinted_after_ms integer,
  constraint task_leases_task_unique PRIMARY KEY (task_id)
);

CREATE INDEX task_leases_by_time ON task_leases USING btree (next_poll_at);

create table task_orders (
  account_id text not null,
  client_business_id text not null,
  scope text not null,
  fingerprint bytea not null,
  task_id text not null,
  constraint task_orders_id_unique PRIMARY KEY (account_id, client_business_id, scope)
);

create table tasks (
  id text not null,
  account_id text not null,
  key_id text not null,
  parent_id text,
  type text not null,
  model text not null,
  state text not null,
  phase text not null,
  progress smallint not null,
  version integer not null,
  request jsonb not null,
  inputs jsonb not null,
  terms jsonb not null,
  hold_id text,
  output_ids text[] not null,
  output jsonb not null,
  warnings jsonb not null,
  error jsonb,
  charge bigint not null,
  units bigint not null,
  metadata jsonb,
  callback_url text,
  request_id text not null,
  client_request_id text,
  target jsonb,
  provider_id text,
  handle jsonb,
  tried jsonb not null,
  waits_for text,
  lost_at timestamp with time zone,
  cancel_requested_at timestamp with time zone,
  cancel_sent_at timestamp with time zone,
  deadline_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  submitted_at timestamp with time zone,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  updated_at timestamp with time zone not null,
  steps jsonb not null,
  traceparent text,
  prompt_erased_at timestamp with time zone,
  constraint tasks_charge_valid CHECK (charge >= 0 AND units >= 0),
  constraint tasks_error_complete CHECK ((state = 'failed'::text) = (error IS NOT NULL)),
  constraint tasks_id_unique PRIMARY KEY (id),
  constraint tasks_id_valid CHECK (id ~~ 'task\_%'::text),
  constraint tasks_progress_valid CHECK (progress >= 0 AND progress <= 100 AND (progress = 100) = (state = 'succeeded'::text)),
  constraint tasks_state_valid CHECK (
CASE state
    WHEN 'queued'::text THEN (phase = ANY (ARRAY['ready'::text, 'submitting'::text, 'unknown'::text, 'running'::text])) AND finished_at IS NULL
    WHEN 'processing'::text THEN (phase = ANY (ARRAY['ready'::text, 'submitting'::text, 'unknown'::text, 'running'::text])) AND finished_at IS NULL
    WHEN 'succeeded'::text THEN phase = 'ended'::text AND finished_at IS NOT NULL
    WHEN 'failed'::text THEN phase = 'ended'::text AND finished_at IS NOT NULL
    WHEN 'canceled'::text THEN phase = 'ended'::text AND finished_at IS NOT NULL
    WHEN 'expired'::text THEN phase = 'ended'::text AND finished_at IS NOT NULL
    ELSE false
END),
  constraint tasks_type_valid CHECK (type = ANY (ARRAY['image'::text, 'video'::text, 'avatar'::text, 'drama'::text, 'speech'::text]))
);

CREATE INDEX tasks_by_account ON ONLY tasks USING btree (account_id, id);

CREATE INDEX tasks_by_hold ON ONLY tasks USING btree (hold_id) WHERE phase <> 'ended'::text;

CREATE INDEX tasks_by_parent ON ONLY tasks USING btree (parent_id) WHERE parent_id IS NOT NULL;

CREATE INDEX tasks_by_provider ON ONLY tasks USING btree (provider_id) WHERE phase = ANY (ARRAY['submitting'::text, 'unknown'::text, 'running'::text]);

CREATE INDEX tasks_failed ON ONLY tasks USING btree (id) WHERE state = 'failed'::text OR state = 'expired'::text;

CREATE INDEX tasks_ready_by_model ON ONLY tasks USING btree (model, id) WHERE phase = 'ready'::text;

CREATE INDEX tasks_waiting_by_provider ON ONLY tasks USING btree (waits_for, id) WHERE waits_for IS NOT NULL;

CREATE INDEX tasks_with_prompt ON ONLY tasks USING btree (id) WHERE prompt_erased_at IS NULL;

CREATE TRIGGER tasks_final BEFORE UPDATE ON tasks FOR EACH ROW WHEN (old.phase = 'ended'::text) EXECUTE FUNCTION tasks_keep_final();

CREATE TRIGGER tasks_progress_grows BEFORE UPDATE ON tasks FOR EACH ROW WHEN (new.progress < old.progress) EXECUTE FUNCTION tasks_keep_final();

create table traffic_days (
  day text not null,
  kind text not null,
  subject text not null,
  calls bigint not null,
  failed bigint not null,
  constraint traffic_days_day_valid CHECK (day ~ '^\d{4}-\d{2}-\d{2}$'::text),
  constraint traffic_days_kind_valid CHECK (kind = ANY (ARRAY['model'::text, 'endpoint'::text])),
  constraint traffic_days_unique PRIMARY KEY (day, kind, subject),
  constraint traffic_days_valid CHECK (calls > 0 AND failed >= 0 AND failed <= calls)
);

create table traffic_progress (
  is_only boolean not null default true,
  counted_until timestamp with time zone not null,
  run_at timestamp with time zone not null,
  constraint traffic_progress_only CHECK (is_only),
  constraint traffic_progress_unique PRIMARY KEY (is_only)
);

create table traffic_slots (
  slot_at timestamp with time zone not null,
  kind text not null,
  subject text not null,
  calls bigint not null,
  failed bigint not null,
  constraint traffic_slots_kind_valid CHECK (kind = ANY (ARRAY['model'::text, 'endpoint'::text, 'upstream'::text])),
  constraint traffic_slots_unique PRIMARY KEY (slot_at, kind, subject),
  constraint traffic_slots_valid CHECK (calls > 0 AND failed >= 0 AND failed <= calls)
);

create table unarchived_bytes (
  storage_key text not null,
  constraint unarchived_bytes_key_unique PRIMARY KEY (storage_key)
);

create table uncharged_costs (
  id text not null,
  created_at timestamp with time zone not null,
  account_id text not null,
  model_id text not null,
  provider_id text not null,
  upstream_model text not null,
  calls integer not null,
  cost_nano bigint not null,
  constraint uncharged_costs_unique PRIMARY KEY (id),
  constraint uncharged_costs_valid CHECK (calls > 0 AND cost_nano >= 0)
);

CREATE INDEX uncharged_costs_by_time ON uncharged_costs USING brin (created_at);

CREATE TRIGGER uncharged_costs_final BEFORE DELETE OR UPDATE ON uncharged_costs FOR EACH ROW EXECUTE FUNCTION refuse_change();

create table unowned_bytes (
  storage_key text not null,
  due_at timestamp with time zone not null,
  is_doomed boolean not null,
  constraint unowned_bytes_storage_key_unique PRIMARY KEY (storage_key)
);

CREATE INDEX unowned_bytes_by_due_time ON unowned_bytes USING btree (due_at);

create table upstream_events (
  id bigint not null generated always as identity,
  kind text not null,
  at timestamp with time zone not null,
  provider_id text not null,
  upstream_model text,
  key_number integer,
  actor text,
  detail text,
  constraint upstream_events_key_valid CHECK ((key_number IS NULL) = (kind = ANY (ARRAY['test_passed'::text, 'test_failed'::text]))),
  constraint upstream_events_kind_valid CHECK (kind = ANY (ARRAY['circuit_opened'::text, 'circuit_closed'::text, 'test_passed'::text, 'test_failed'::text])),
  constraint upstream_events_unique PRIMARY KEY (id)
);

CREATE INDEX upstream_events_by_time ON upstream_events USING btree (at);

create table upstream_health (
  node_id text not null,
  provider_id text not null,
  upstream_model text not null,
  key_number integer not null,
  state text not null,
  failures integer not null,
  last_failure text not null,
  open_until timestamp with time zone not null,
  reported_at timestamp with time zone not null,
  constraint upstream_health_state_valid CHECK (state = ANY (ARRAY['open'::text, 'half-open'::text, 'degraded'::text])),
  constraint upstream_health_unique PRIMARY KEY (node_id, provider_id, upstream_model, key_number)
);

create table upstream_switches (
  id bigint not null generated always as identity,
  kind text not null,
  subject text not null,
  mode text not null,
  reason text not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  ends_at timestamp with time zone,
  ended_at timestamp with time zone,
  ended_by text,
  constraint upstream_switches_end_valid CHECK ((ended_at IS NULL) = (ended_by IS NULL)),
  constraint upstream_switches_kind_valid CHECK (kind = ANY (ARRAY['provider'::text, 'route'::text, 'key'::text])),
  constraint upstream_switches_mode_valid CHECK (mode = ANY (ARRAY['disabled'::text, 'draining'::text])),
  constraint upstream_switches_unique PRIMARY KEY (id)
);

CREATE UNIQUE INDEX upstream_switches_current ON upstream_switches USING btree (kind, subject) WHERE ended_at IS NULL;

CREATE TRIGGER upstream_switches_changed AFTER INSERT OR DELETE OR UPDATE ON upstream_switches FOR EACH STATEMENT EXECUTE FUNCTION notify_upstream_change();

create table usage_rollups (
  account_id text not null,
  slot_at timestamp with time zone not null,
  key_id text,
  price_id text not null,
  unit text not null,
  item_names text[] not null,
  calls bigint not null,
  paid bigint not null,
  quantities bigint[] not null,
  constraint usage_rollups_unique UNIQUE NULLS NOT DISTINCT (account_id, slot_at, key_id, price_id, unit, item_names)
);

CREATE INDEX usage_rollups_by_time ON usage_rollups USING brin (slot_at);

create table user_backup_codes (
  user_id text not null,
  code_hash bytea not null,
  constraint user_backup_codes_unique PRIMARY KEY (user_id, code_hash),
  constraint user_backup_codes_user_exists FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table user_identities (
  provider_id text not null,
  subject text not null,
  user_id text not null,
  created_at timestamp with time zone not null,
  constraint user_identities_one_for_each_provider UNIQUE (user_id, provider_id),
  constraint user_identities_unique PRIMARY KEY (provider_id, subject),
  constraint user_identities_user_exists FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table user_passkeys (
  id text not null,
  user_id text not null,
  credential_id text not null,
  public_key bytea not null,
  sign_count bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  constraint user_passkeys_credential_unique UNIQUE (credential_id),
  constraint user_passkeys_id_unique PRIMARY KEY (id),
  constraint user_passkeys_id_valid CHECK (id ~~ 'passkey\_%'::text),
  constraint user_passkeys_user_exists FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE INDEX user_passkeys_by_user ON user_passkeys USING btree (user_id);

create table user_sessions (
  id text not null,
  user_id text not null,
  token_hash bytea not null,
  created_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  fresh_until timestamp with time zone not null,
  user_agent text not null,
  address text not null,
  previous_token_hash bytea,
  previous_token_until timestamp with time zone,
  is_two_step boolean not null default false,
  constraint user_sessions_id_unique PRIMARY KEY (id),
  constraint user_sessions_id_valid CHECK (id ~~ 'ses\_%'::text),
  constraint user_sessions_previous_token_whole CHECK ((previous_token_hash IS NULL) = (previous_token_until IS NULL)),
  constraint user_sessions_token_unique UNIQUE (token_hash),
  constraint user_sessions_user_exists FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE INDEX user_sessions_by_last_seen ON user_sessions USING btree (last_seen_at);

CREATE INDEX user_sessions_by_user ON user_sessions USING btree (user_id);

CREATE UNIQUE INDEX user_sessions_previous_token_unique ON user_sessions USING btree (previous_token_hash);

CREATE TRIGGER user_sessions_ended AFTER DELETE ON user_sessions FOR EACH ROW EXECUTE FUNCTION notify_session_end();

create table user_tokens (
  hash bytea not null,
  kind text not null,
  email text,
  user_id text,
  details jsonb not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint user_tokens_hash_unique PRIMARY KEY (hash),
  constraint user_tokens_kind_valid CHECK (kind = ANY (ARRAY['sign-up'::text, 'invite'::text, 'reset-password'::text, 'second-factor'::text, 'passkey'::text, 'provider'::text])),
  constraint user_tokens_user_exists FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE INDEX user_tokens_by_email ON user_tokens USING btree (email, kind) WHERE email IS NOT NULL;

CREATE INDEX user_tokens_by_expiry ON user_tokens USING btree (expires_at);

CREATE INDEX user_tokens_by_user ON user_tokens USING btree (user_id, kind) WHERE user_id IS NOT NULL;

create table users (
  id text not null,
  account_id text not null,
  email text not null,
  name text,
  password_hash text,
  email_verified_at timestamp with time zone,
  is_operator boolean not null default false,
  totp_secret bytea,
  totp_secret_waiting bytea,
  totp_last_step bigint,
  created_at timestamp with time zone not null,
  constraint users_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint users_account_unique UNIQUE (account_id),
  constraint users_email_valid CHECK (email ~~ '%_@_%'::text AND length(email) <= 254),
  constraint users_id_unique PRIMARY KEY (id),
  constraint users_id_valid CHECK (id ~~ 'user\_%'::text),
  constraint users_password_hash_valid CHECK (password_hash ~~ '$argon2id$%'::text)
);

CREATE UNIQUE INDEX users_email_unique ON users USING btree (lower(email));

create table vendor_balances (
  provider_id text not null,
  key_number integer not null,
  balance_nano bigint,
  currency text,
  read_at timestamp with time zone,
  asked_at timestamp with time zone not null,
  failure text,
  constraint vendor_balances_unique PRIMARY KEY (provider_id, key_number),
  constraint vendor_balances_whole CHECK (num_nulls(balance_nano, currency, read_at) = ANY (ARRAY[0, 3]))
);

create table vendor_limits (
  provider_id text not null,
  upstream_model text not null,
  key_number integer not null,
  name text not null,
  most bigint,
  remaining bigint,
  resets_at timestamp with time zone,
  seen_at timestamp with time zone not null,
  constraint vendor_limits_unique PRIMARY KEY (provider_id, upstream_model, key_number, name)
);

create table wallets (
  account_id text not null,
  version bigint not null default 0,
  changed_at timestamp with time zone not null default now(),
  frozen_at timestamp with time zone,
  frozen_reason text,
  plain_writes bigint not null default 0,
  reserved bigint not null default 0,
  reserved_by text,
  reserved_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  reserve_revoked boolean not null default false,
  rolled_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  books_from timestamp with time zone not null default '-infinity'::timestamp with time zone,
  has_unrolled boolean not null default false,
  constraint wallets_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint wallets_account_unique PRIMARY KEY (account_id)
);

CREATE INDEX wallets_frozen ON wallets USING btree (frozen_at) WHERE frozen_at IS NOT NULL;

CREATE TRIGGER wallets_frozen_complete BEFORE INSERT OR UPDATE OF frozen_at, frozen_reason ON wallets FOR EACH ROW EXECUTE FUNCTION check_wallet_freeze();

CREATE TRIGGER wallets_reserve_valid BEFORE INSERT OR UPDATE OF reserved ON wallets FOR EACH ROW EXECUTE FUNCTION check_wallet_reserve();

create table webhook_endpoints (
  id text not null,
  account_id text not null,
  url text not null,
  description text not null,
  event_types text[] not null,
  sealed_secret bytea not null,
  sealed_previous_secret bytea,
  previous_secret_until timestamp with time zone,
  failing_since timestamp with time zone,
  disabled_at timestamp with time zone,
  disabled_reason text,
  created_at timestamp with time zone not null,
  constraint webhook_endpoints_account_exists FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint webhook_endpoints_description_valid CHECK (length(description) <= 500),
  constraint webhook_endpoints_disabled_valid CHECK (
CASE
    WHEN disabled_at IS NULL THEN disabled_reason IS NULL
    ELSE disabled_reason IS NOT NULL AND (disabled_reason = ANY (ARRAY['owner'::text, 'gone'::text, 'failing'::text]))
END),
  constraint webhook_endpoints_event_types_valid CHECK (cardinality(event_types) <= 20),
  constraint webhook_endpoints_id_unique PRIMARY KEY (id),
  constraint webhook_endpoints_id_valid CHECK (id ~~ 'whe\_%'::text),
  constraint webhook_endpoints_previous_secret_valid CHECK (num_nulls(sealed_previous_secret, previous_secret_until) = ANY (ARRAY[0, 2])),
  constraint webhook_endpoints_url_unique UNIQUE (account_id, url),
  constraint webhook_endpoints_url_valid CHECK (length(url) >= 1 AND length(url) <= 2048)
);

create table webhook_sessions (
  id text not null,
  account_id text not null,
  key_id text not null,
  reader_id text,
  started_at timestamp with time zone not null,
  listening_until timestamp with time zone not null,
  constraint webhook_sessions_id_unique PRIMARY KEY (id),
  constraint webhook_sessions_id_valid CHECK (id ~~ 'whs\_%'::text)
);

CREATE INDEX webhook_sessions_by_account ON webhook_sessions USING btree (account_id, listening_until);

CREATE INDEX webhook_sessions_by_time ON webhook_sessions USING btree (listening_until);

create table welcomed_mailboxes (
  mailbox_hash bytea not null,
  welcomed_at timestamp with time zone not null,
  constraint welcomed_mailboxes_unique PRIMARY KEY (mailbox_hash)
);

create type ended_claim as (
  account_id text,
  key text,
  request_id text,
  status smallint,
  content_type text,
  body bytea,
  summary text
);

create type ledger_decided_bucket as (
  id text,
  posted bigint,
  held bigint,
  entry_count bigint,
  expires_at timestamp with time zone,
  posted_before bigint,
  held_before bigint,
  entry_count_before bigint,
  least_available bigint
);

create type ledger_decided_hold as (
  id text,
  amount bigint,
  bucket_ids text[],
  bucket_amounts bigint[],
  state text,
  settled bigint,
  settlement_fingerprint text,
  expires_at timestamp with time zone,
  amount_before bigint,
  expires_at_before timestamp with time zone
);

create type ledger_decided_reserve as (
  account_id text,
  amount bigint,
  owner text,
  is_revoked boolean,
  lease_ms integer
);

create type ledger_decided_spending as (
  key_id text,
  starts_at timestamp with time zone,
  account_id text,
  held bigint,
  spent bigint,
  held_before bigint,
  spent_before bigint,
  most_counted bigint,
  budget bigint
);

create type ledger_decided_wallet as (
  account_id text,
  version bigint,
  shape bigint
);

create type ledger_new_charge as (
  id text,
  hold_id text,
  account_id text,
  key_id text,
  unit text,
  price_id text,
  item_names text[],
  item_quantities bigint[],
  item_rates_nano bigint[],
  rates_per bigint,
  minimum_nano bigint,
  quota_units bigint,
  paid bigint,
  lost bigint
);

create type ledger_new_posting as (
  id text,
  leg smallint,
  account_id text,
  kind text,
  unit text,
  debit text,
  credit text,
  amount bigint,
  bucket_id text,
  entry_number bigint,
  balance_after bigint,
  refund_of text,
  fingerprint text,
  cause_kind text,
  cause_id text
);

create type ledger_opened_bucket as (
  id text,
  account_id text,
  kind text,
  unit text,
  expires_at timestamp with time zone,
  posted bigint,
  held bigint,
  entry_count bigint,
  is_open boolean
);

create type ledger_opened_hold as (
  id text,
  account_id text,
  unit text,
  amount bigint,
  bucket_ids text[],
  bucket_amounts bigint[],
  state text,
  settled bigint,
  refusal text,
  missing bigint,
  fingerprint text,
  settlement_fingerprint text,
  key_id text,
  budget_starts_at timestamp with time zone,
  cause_kind text,
  cause_id text,
  expires_at timestamp with time zone
);

create type new_claim as (
  account_id text,
  key text,
  fingerprint bytea,
  request_id text,
  hold_id text
);

CREATE OR REPLACE FUNCTION public.add_many_quantities(kept bigint[], added bigint[])
 RETURNS bigint[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (SELECT array_agg((pair.one + pair.other) ORDER BY pair.place) AS array_agg FROM UNNEST(add_many_quantities.kept, add_many_quantities.added) WITH ORDINALITY pair(one, other, place));

CREATE OR REPLACE FUNCTION public.audit_facts(entry audit_entries)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select sha256(entry.facts_salt || convert_to(jsonb_build_array(entry.reason, entry.before, entry.after)::text, 'UTF8'))
$function$;

CREATE OR REPLACE FUNCTION public.audit_hash(entry audit_entries)
 RETURNS bytea
 LANGUAGE sql
 STABLE
AS $function$
  select sha256(entry.previous_hash || convert_to(case when entry.who_digest is null
    then jsonb_build_array(entry.number, to_char(entry.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      entry.actor_kind, entry.actor_id, entry.actor_name, entry.address, entry.action, entry.subject, entry.account_id,
      entry.reason, entry.before, entry.after, entry.request_id)
    else jsonb_build_array(entry.number, to_char(entry.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      entry.actor_kind, entry.actor_id, encode(entry.who_digest, 'hex'), entry.action, entry.subject, entry.account_id,
      encode(entry.facts_digest, 'hex'), entry.request_id)
    end::text, 'UTF8'))
$function$;

CREATE OR REPLACE FUNCTION public.audit_texts_hold(entry audit_entries)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.audit_who(entry audit_entries)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select sha256(entry.who_salt || convert_to(jsonb_build_array(entry.actor_name, entry.address)::text, 'UTF8'))
$function$;

CREATE OR REPLACE FUNCTION public.chain_audit_entry()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION public.charge_cost(quantities bigint[], rates bigint[], rates_per bigint, minimum bigint)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (SELECT (GREATEST(div((((2)::numeric * COALESCE(sum(((item.quantity)::numeric * (item.rate)::numeric)), (0)::numeric)) + (charge_cost.rates_per)::numeric), ((2)::numeric * (charge_cost.rates_per)::numeric)), (charge_cost.minimum)::numeric))::bigint AS "greatest" FROM UNNEST(charge_cost.quantities, charge_cost.rates) item(quantity, rate));

CREATE OR REPLACE FUNCTION public.check_bucket_amounts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION public.check_bucket_kind()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.id like 'bkt\_%' and (case new.kind
      when 'cash' then new.unit = 'money' and new.id = 'bkt_' || substr(new.account_id, 6)
      when 'gift' then new.unit = 'money'
      when 'quota' then new.unit in ('text', 'image', 'video')
      else false
    end)
  then return new; end if;
  raise check_violation using constraint = 'buckets_kind_valid', table = 'buckets',
    message = 'invalid bucket', detail = to_json(new)::text;
end $function$;

CREATE OR REPLACE FUNCTION public.check_charge()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  broken text;
begin
  broken = case
    when cardinality(new.item_names) <> cardinality(new.item_quantities)
      or cardinality(new.item_names) <> cardinality(new.item_rates_nano) then 'charges_items_complete'
    when least(new.minimum_nano, new.quota_units, new.paid, new.lost) < 0 or new.rates_per <= 0 then 'charges_amounts_valid'
  end;
  if broken is null then return new; end if;
  raise check_violation using constraint = broken, table = 'charges', message = 'invalid charge',
    detail = to_json(new)::text;
end $function$;

CREATE OR REPLACE FUNCTION public.check_hold()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  is_valid boolean;
  broken text;
begin
  -- plpgsql prepares a condition when it first runs, so each state only pays for its own.
  if new.state = 'open' then
    is_valid = new.resolved_at is null and new.settled = 0 and cardinality(new.bucket_ids) > 0;
  elsif new.state = 'settled' then
    is_valid = new.resolved_at is not null and new.settlement_fingerprint is not null;
  elsif new.state in ('released', 'expired') then
    is_valid = new.resolved_at is not null and new.settled = 0;
  elsif new.state = 'refused' then
    is_valid = new.resolved_at is not null and new.settled = 0 and cardinality(new.bucket_ids) = 0;
  else
    is_valid = false;
  end if;
  broken = case
    when not is_valid then 'holds_state_valid'
    when new.id not like 'hold\_%' then 'holds_id_valid'
    when new.unit not in ('money', 'text', 'image', 'video') then 'holds_unit_valid'
    when cardinality(new.bucket_ids) <> cardinality(new.bucket_amounts) then 'holds_lines_complete'
    when new.amount <= 0 then 'holds_amount_positive'
    when new.settled not between 0 and new.amount then 'holds_settled_within'
    when new.budget_starts_at is not null and new.key_id is null then 'holds_budget_has_key'
    when (new.state = 'refused') <> (new.refusal is not null) or (new.refusal is null) <> (new.missing is null)
      then 'holds_refusal_complete'
  end;
  if broken is null then return new; end if;
  raise check_violation using constraint = broken, table = 'holds', message = 'invalid hold',
    detail = to_json(new)::text;
end $function$;

CREATE OR REPLACE FUNCTION public.check_posting_kind()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  broken text;
begin
  if new.amount > 0 and new.debit <> new.credit and new.id like 'txn\_%'
    and (case
      when new.kind = 'loss' then new.bucket_id is null
      else num_nulls(new.bucket_id, new.entry_number, new.balance_after) = 0 and new.bucket_id in (new.debit, new.credit)
        and new.balance_after >= 0
    end)
    and (case new.kind
      when 'charge' then new.debit = new.bucket_id and new.credit = 'revenue'
      when 'loss' then new.debit = 'loss' and new.credit = 'revenue'
      when 'refund' then new.debit = 'revenue' and new.credit = new.bucket_id and new.refund_of is not null
      when 'top_up' then new.debit like 'funding:%' and new.credit = new.bucket_id
      when 'grant' then new.debit like 'funding:%' and new.credit = new.bucket_id
      when 'adjustment' then 'adjustments' in (new.debit, new.credit)
      when 'reversal' then (new.debit = new.bucket_id and new.credit like 'funding:%')
        or (new.credit = new.bucket_id and new.debit like 'funding:%')
      when 'expiry' then new.debit = new.bucket_id and new.credit = 'expired'
      else false
    end)
  then return new; end if;
  broken = case
    when new.amount <= 0 then 'postings_amount_positive'
    when new.debit = new.credit then 'postings_two_sides'
    else 'postings_kind_valid'
  end;
  raise check_violation using constraint = broken, table = 'postings', message = 'invalid posting',
    detail = to_json(new)::text;
end $function$;

CREATE OR REPLACE FUNCTION public.check_wallet_freeze()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if (new.frozen_at is null) = (new.frozen_reason is null) then return new; end if;
  raise check_violation using constraint = 'wallets_frozen_complete', table = 'wallets',
    message = 'a frozen wallet needs a time and a reason', detail = to_json(new)::text;
end $function$;

CREATE OR REPLACE FUNCTION public.check_wallet_reserve()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.reserved >= 0 then return new; end if;
  raise check_violation using constraint = 'wallets_reserved_valid', table = 'wallets', message = 'invalid reserve';
end $function$;

CREATE OR REPLACE FUNCTION public.claim_keys(new_claims new_claim[], claimed_at timestamp with time zone, leased_until timestamp with time zone, known_until timestamp with time zone)
 RETURNS SETOF text
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  return query insert into idempotency_keys
      (account_id, key, fingerprint, request_id, hold_id, state, lease_until, created_at, expires_at)
    select claimed.account_id, claimed.key, claimed.fingerprint, claimed.request_id, claimed.hold_id, 'running',
      leased_until, claimed_at, known_until
    from unnest(new_claims) as claimed
    on conflict (account_id, key) do nothing
    returning idempotency_keys.request_id;
end $function$;

CREATE OR REPLACE FUNCTION public.count_conversation()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
  declare
    delta bigint := coalesce(new.bytes + octet_length(new.metadata), 0) - coalesce(old.bytes + octet_length(old.metadata), 0);
  begin
    if delta <> 0 then perform count_stored_text(coalesce(new.account_id, old.account_id), 0, delta); end if;
    return null;
  end
$function$;

CREATE OR REPLACE FUNCTION public.count_response()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.count_stored_text(changed_account text, changed_shard integer, delta bigint)
 RETURNS void
 LANGUAGE sql
AS $function$
    insert into stored_texts (account_id, shard, bytes) values (changed_account, changed_shard, delta)
      on conflict (account_id, shard) do update set bytes = stored_texts.bytes + excluded.bytes
  $function$;

CREATE OR REPLACE FUNCTION public.create_wallet()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into wallets (account_id) values (new.id);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.drop_months(parent text, kept_from timestamp with time zone)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  part record;
  dropped integer := 0;
  is_filled boolean;
begin
  for part in
    select relname as name, bound from pg_inherits join pg_class on pg_class.oid = inhrelid
      cross join lateral (select substring(pg_get_expr(relpartbound, pg_class.oid) from 'TO \(''(.+)''\)') as bound) bounds
      where inhparent = quote_ident(parent)::regclass
        and bound collate "C" <= least_id(split_part(bound, '_', 1), kept_from) collate "C"
  loop
    if part.name = parent || '_before' then
      execute format('select exists (select from %I)', part.name) into is_filled;
      continue when not is_filled;
      execute format('truncate %I', part.name);
    else
      execute format('drop table %I', part.name);
    end if;
    dropped := dropped + 1;
  end loop;
  return dropped;
end $function$;

CREATE OR REPLACE FUNCTION public.drop_partitions(parent text, unit text, kept_from timestamp with time zone)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  part text;
  dropped integer := 0;
begin
  execute format('delete from %I where created_at < %L', parent || '_default', kept_from);
  for part in
    select relname from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = quote_ident(parent)::regclass and relname ~ '_[0-9]{6}([0-9]{2})?$'
        and (to_date(substring(relname from '[0-9]+$'), case unit when 'month' then 'YYYYMM' else 'YYYYMMDD' end)
          + ('1 ' || unit)::interval) at time zone 'UTC' <= kept_from
  loop
    execute format('drop table %I', part);
    dropped := dropped + 1;
  end loop;
  return dropped;
end $function$;

CREATE OR REPLACE FUNCTION public.end_claims(ended_claims ended_claim[])
 RETURNS void
 LANGUAGE plpgsql
 SET enable_nestloop TO 'on'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_seqscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  kept_total integer;
begin
  if cardinality(ended_claims) > 1 then
    perform from idempotency_keys
      where (account_id, key) in (select account_id, key from unnest(ended_claims))
      order by account_id collate "C", key collate "C" for update;
  end if;
  update idempotency_keys
    set state = 'finished', status = ended.status, content_type = ended.content_type, body = ended.body,
      summary = ended.summary
    from unnest(ended_claims) as ended
    where idempotency_keys.account_id = ended.account_id and idempotency_keys.key = ended.key
      and idempotency_keys.request_id = ended.request_id and ended.status is not null;
  get diagnostics kept_total = row_count;
  if kept_total <> (select count(status) from unnest(ended_claims)) then
    raise exception 'another request owns the key' using errcode = 'SL002';
  end if;
  if kept_total < cardinality(ended_claims) then
    delete from idempotency_keys
      using unnest(ended_claims) as ended
      where idempotency_keys.account_id = ended.account_id and idempotency_keys.key = ended.key
        and idempotency_keys.request_id = ended.request_id and state = 'running' and ended.status is null;
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.erase_revised_prompts(output jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select coalesce(jsonb_agg(item - 'revisedPrompt' order by position), '[]')
    from jsonb_array_elements(output) with ordinality as items (item, position)
$function$;

CREATE OR REPLACE FUNCTION public.keep_audit_entry()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION public.keep_key_lineage()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'INSERT' then
    -- A key that replaces no other starts its own lineage.
    new.lineage_id = coalesce(new.lineage_id, new.id);
  elsif new.lineage_id is distinct from old.lineage_id then
    raise check_violation using constraint = 'api_keys_lineage_final', table = 'api_keys',
      message = 'the lineage of a key never changes';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_paid_checkout()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' and (new.state, new.account_id, new.amount_nano, new.amount_minor, new.currency)
    is not distinct from (old.state, old.account_id, old.amount_nano, old.amount_minor, old.currency)
  then return new; end if;
  raise check_violation using constraint = 'checkouts_paid_final', table = 'checkouts',
    message = 'a paid checkout cannot be changed or deleted';
end $function$;

CREATE OR REPLACE FUNCTION public.least_id(prefix text, moment timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select prefix || '_' || string_agg(
    substr('0123456789abcdefghjkmnpqrstvwxyz',
      ((floor(extract(epoch from moment) * 1000)::bigint >> (5 * (9 - place))) & 31)::integer + 1, 1),
    '' order by place)
  from generate_series(0, 9) as place
$function$;

CREATE OR REPLACE FUNCTION public.ledger_commit(decided_at timestamp with time zone, ended_claims ended_claim[], decided_wallets ledger_decided_wallet[], opened_buckets ledger_opened_bucket[], decided_buckets ledger_decided_bucket[], opened_holds ledger_opened_hold[], decided_holds ledger_decided_hold[], new_postings ledger_new_posting[], new_charges ledger_new_charge[], decided_spending ledger_decided_spending[], decided_reserves ledger_decided_reserve[])
 RETURNS json
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_nestloop TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  row_total integer;
  ids text[];
  has_moved boolean;
  booked_from timestamptz;
  -- Fast path: almost every batch changes one of each, which needs no join.
  only_wallet ledger_decided_wallet;
  only_bucket ledger_decided_bucket;
  only_hold ledger_decided_hold;
  one_reserve ledger_decided_reserve;
begin
  if ended_claims is not null then perform end_claims(ended_claims); end if;
  if cardinality(decided_wallets) = 1 then
    only_wallet = decided_wallets[1];
    update wallets
      set version = version + 1, plain_writes = plain_writes + (only_wallet.shape is not null)::integer,
        changed_at = clock_timestamp(), has_unrolled = has_unrolled or new_charges is not null
      where account_id = only_wallet.account_id
        and (version = only_wallet.version or version - plain_writes = only_wallet.shape)
      returning version <> only_wallet.version + 1, books_from into has_moved, booked_from;
    get diagnostics row_total = row_count;
  else
    ids = array(select account_id from unnest(decided_wallets));
    select count(*), bool_or(locked.version <> decided.version), max(locked.books_from)
      into row_total, has_moved, booked_from
      from unnest(decided_wallets) as decided
      join (select account_id, version, plain_writes, books_from from wallets where account_id = any (ids) order by account_id for update)
        as locked using (account_id)
      where locked.version = decided.version or locked.version - locked.plain_writes = decided.shape;
    update wallets
      set version = wallets.version + 1, plain_writes = plain_writes + (decided.shape is not null)::integer,
        changed_at = clock_timestamp(), has_unrolled = has_unrolled or new_charges is not null
      from unnest(decided_wallets) as decided
      where wallets.account_id = decided.account_id and wallets.account_id = any (ids);
  end if;
  if row_total <> cardinality(decided_wallets) then
    raise exception 'a wallet has changed' using errcode = 'SL001';
  end if;
  -- Charges before this moment may be rolled up already.
  decided_at = greatest(decided_at, booked_from);
  if decided_reserves is not null then
    foreach one_reserve in array decided_reserves loop
      update wallets
        set reserved = one_reserve.amount, reserved_by = one_reserve.owner, reserve_revoked = one_reserve.is_revoked,
          reserved_until = coalesce(clock_timestamp() + one_reserve.lease_ms * interval '1 ms', reserved_until)
        where account_id = one_reserve.account_id;
    end loop;
  end if;
  if opened_buckets is not null then
    insert into buckets (id, account_id, kind, unit, expires_at, posted, held, entry_count, is_open, opened_at)
      select opened.*, decided_at from unnest(opened_buckets) as opened;
  end if;
  if cardinality(decided_buckets) = 1 then
    only_bucket = decided_buckets[1];
    update buckets
      set posted = posted + only_bucket.posted - only_bucket.posted_before,
        held = held + only_bucket.held - only_bucket.held_before,
        entry_count = entry_count + only_bucket.entry_count - only_bucket.entry_count_before,
        is_open = kind = 'cash' or posted + only_bucket.posted <> only_bucket.posted_before
          or held + only_bucket.held <> only_bucket.held_before,
        expires_at = only_bucket.expires_at
      where id = only_bucket.id;
    if not found then raise exception 'a bucket is missing'; end if;
  elsif decided_buckets is not null then
    ids = array(select id from unnest(decided_buckets));
    update buckets
      set posted = buckets.posted + decided.posted - decided.posted_before,
        held = buckets.held + decided.held - decided.held_before,
        entry_count = buckets.entry_count + decided.entry_count - decided.entry_count_before,
        is_open = kind = 'cash' or buckets.posted + decided.posted <> decided.posted_before
          or buckets.held + decided.held <> decided.held_before,
        expires_at = decided.expires_at
      from unnest(decided_buckets) as decided
      where buckets.id = decided.id and buckets.id = any (ids);
    get diagnostics row_total = row_count;
    if row_total <> cardinality(ids) then raise exception 'a bucket is missing'; end if;
  end if;
  if opened_holds is not null then
    insert into holds (id, account_id, unit, amount, bucket_ids, bucket_amounts, state, settled, refusal, missing,
        fingerprint, settlement_fingerprint, key_id, budget_starts_at, cause_kind, cause_id, expires_at, opened_at,
        resolved_at)
      select opened.*, decided_at, case when opened.state <> 'open' then decided_at end
      from unnest(opened_holds) as opened;
  end if;
  -- `resolved_at is null` rather than `state = 'open'`, which would use the index of open holds, full of dead entries.
  if cardinality(decided_holds) = 1 then
    only_hold = decided_holds[1];
    update holds
      set amount = only_hold.amount, bucket_ids = only_hold.bucket_ids, bucket_amounts = only_hold.bucket_amounts,
        state = only_hold.state, settled = only_hold.settled,
        settlement_fingerprint = only_hold.settlement_fingerprint, expires_at = only_hold.expires_at,
        resolved_at = case when only_hold.state <> 'open' then decided_at end
      where id = only_hold.id and resolved_at is null
        and amount = only_hold.amount_before and expires_at = only_hold.expires_at_before;
    if not found then raise exception 'a hold has changed' using errcode = 'SL001'; end if;
  elsif decided_holds is not null then
    ids = array(select id from unnest(decided_holds));
    update holds
      set amount = decided.amount, bucket_ids = decided.bucket_ids, bucket_amounts = decided.bucket_amounts,
        state = decided.state, settled = decided.settled, settlement_fingerprint = decided.settlement_fingerprint,
        expires_at = decided.expires_at, resolved_at = case when decided.state <> 'open' then decided_at end
      from unnest(decided_holds) as decided
      where holds.id = decided.id and holds.id = any (ids) and holds.resolved_at is null
        and holds.amount = decided.amount_before and holds.expires_at = decided.expires_at_before;
    get diagnostics row_total = row_count;
    if row_total <> cardinality(ids) then raise exception 'a hold has changed' using errcode = 'SL001'; end if;
  end if;
  if decided_spending is not null then
    update key_spending
      set held = key_spending.held + decided.held - decided.held_before,
        spent = key_spending.spent + decided.spent - decided.spent_before
      from unnest(decided_spending) as decided
      where key_spending.key_id = decided.key_id and key_spending.starts_at = decided.starts_at;
    get diagnostics row_total = row_count;
    -- The wallet's lock keeps other transactions from opening the period.
    if row_total < cardinality(decided_spending) then
      insert into key_spending (key_id, starts_at, account_id, held, spent)
        select key_id, starts_at, account_id, held, spent from unnest(decided_spending)
        on conflict (key_id, starts_at) do nothing;
    end if;
  end if;
  if new_charges is not null then
    insert into charges (id, hold_id, account_id, key_id, unit, price_id, item_names, item_quantities, item_rates_nano,
        rates_per, minimum_nano, quota_units, paid, lost, created_at)
      select charged.*, decided_at from unnest(new_charges) as charged;
  end if;
  if not has_moved then
    if new_postings is not null then
      -- unnest returns an array in its order, so the identity column numbers the postings in that order.
      insert into postings (id, leg, account_id, kind, unit, debit, credit, amount, bucket_id, entry_number,
          balance_after, refund_of, fingerprint, cause_kind, cause_id, created_at)
        select posted.*, decided_at from unnest(new_postings) as posted;
    end if;
    return null;
  end if;
  return ledger_commit_rebased(decided_at, decided_buckets, new_postings, decided_spending);
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_commit_rebased(decided_at timestamp with time zone, decided_buckets ledger_decided_bucket[], new_postings ledger_new_posting[], decided_spending ledger_decided_spending[])
 RETURNS json
 LANGUAGE plpgsql
 SET enable_nestloop TO 'on'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_seqscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  found_buckets json;
  found_spending json;
begin
  if exists (
      select from unnest(decided_buckets) as decided join buckets using (id)
        where buckets.posted - buckets.held - (decided.posted - decided.held) + decided.least_available < 0)
    or exists (
      select from unnest(decided_spending) as decided join key_spending using (key_id, starts_at)
        where key_spending.held + key_spending.spent - (decided.held + decided.spent) + decided.most_counted
          > decided.budget)
  then
    raise exception 'a concurrent write took the money or the budget' using errcode = 'SL001';
  end if;
  insert into postings (id, leg, account_id, kind, unit, debit, credit, amount, bucket_id, entry_number, balance_after,
      refund_of, fingerprint, cause_kind, cause_id, created_at)
    select posted.id, leg, posted.account_id, posted.kind, posted.unit, debit, credit, amount, bucket_id,
      entry_number + coalesce(buckets.entry_count - decided.entry_count, 0),
      balance_after + coalesce(buckets.posted - decided.posted, 0),
      refund_of, fingerprint, cause_kind, cause_id, decided_at
    from unnest(new_postings) with ordinality as posted
      left join unnest(decided_buckets) as decided on decided.id = posted.bucket_id
      left join buckets on buckets.id = decided.id
    order by ordinality;
  select json_agg(json_build_object('id', id, 'posted', buckets.posted::text, 'held', buckets.held::text,
      'entry_count', buckets.entry_count::text, 'is_open', is_open)) into found_buckets
    from unnest(decided_buckets) as decided join buckets using (id);
  select json_agg(json_build_object('key_id', key_id, 'starts_at', starts_at, 'account_id', key_spending.account_id,
      'held', key_spending.held::text, 'spent', key_spending.spent::text)) into found_spending
    from unnest(decided_spending) as decided join key_spending using (key_id, starts_at);
  return json_build_object('buckets', found_buckets, 'spending', found_spending);
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_load(account_ids text[], named_bucket_ids text[], hold_ids text[], transaction_ids text[], key_ids text[], key_starts timestamp with time zone[], OUT found_wallets json, OUT found_buckets json, OUT found_holds json, OUT found_postings json, OUT found_spending json)
 RETURNS record
 LANGUAGE plpgsql
 STABLE
 SET enable_seqscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  wanted_bucket_ids text[] = named_bucket_ids;
begin
  select json_agg(json_build_object('account_id', account_id, 'version', version::text, 'plain_writes', plain_writes::text,
      'reserve', case when reserved > 0 and reserved_until > clock_timestamp() then json_build_object(
        'amount', reserved::text, 'owner', reserved_by, 'is_revoked', reserve_revoked) end,
      'is_frozen', frozen_at is not null or exists (select from clawbacks where clawbacks.account_id = wallets.account_id
        and owed_nano > taken_nano + waived_nano))) into found_wallets
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
end $function$;

CREATE OR REPLACE FUNCTION public.make_months(first_moment timestamp with time zone, last_moment timestamp with time zone)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  monthly record;
  month timestamp;
  part text;
  bounds text[];
  made integer := 0;
begin
  for monthly in
    select parent.relname as name, attname as key, array_to_string(strays.reloptions, ', ') as options,
        substring(pg_get_expr(before.relpartbound, before.oid) from 'TO \(''(.+)''\)') as first_bound
      from pg_partitioned_table
      join pg_class parent on parent.oid = partrelid
      join pg_attribute on attrelid = partrelid and attnum = partattrs[0]
      join pg_class before on before.oid = to_regclass(quote_ident(parent.relname || '_before'))
      join pg_class strays on strays.oid = partdefid
      where parent.relnamespace = current_schema()::regnamespace
      order by parent.relname
  loop
    month := date_trunc('month', first_moment at time zone 'UTC');
    while month <= last_moment at time zone 'UTC' loop
      part := monthly.name || '_' || to_char(month, 'YYYYMM');
      bounds := array[least_id(split_part(monthly.first_bound, '_', 1), month at time zone 'UTC'),
        least_id(split_part(monthly.first_bound, '_', 1), (month + interval '1 month') at time zone 'UTC')];
      month := month + interval '1 month';
      continue when bounds[1] collate "C" < monthly.first_bound collate "C" or to_regclass(quote_ident(part)) is not null;
      -- Several nodes may run this at once. `to_regclass` caches misses, so look again in pg_class under the lock.
      perform pg_advisory_xact_lock(7264042);
      perform from pg_class where relname = part and relnamespace = current_schema()::regnamespace;
      continue when found;
      execute format('lock table %I in access exclusive mode', monthly.name || '_default');
      execute format('create table %I (like %I including all) %s', part, monthly.name, 'with (' || monthly.options || ')');
      -- The triggers refuse changes and deletions; these rows only move.
      execute format('alter table %I disable trigger user', monthly.name || '_default');
      execute format('with moved as (delete from %I where %I >= %L and %I < %L returning *) insert into %I select * from moved',
        monthly.name || '_default', monthly.key, bounds[1], monthly.key, bounds[2], part);
      execute format('alter table %I enable trigger user', monthly.name || '_default');
      execute format('alter table %I attach partition %I for values from (%L) to (%L)',
        monthly.name, part, bounds[1], bounds[2]);
      made := made + 1;
    end loop;
  end loop;
  return made;
end $function$;

CREATE OR REPLACE FUNCTION public.make_partitions(parent text, unit text, first_moment timestamp with time zone, last_moment timestamp with time zone)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  part text;
  made integer := 0;
  start timestamp := date_trunc(unit, first_moment at time zone 'UTC');
  next timestamp;
begin
  -- Several nodes may run this at once.
  perform pg_advisory_xact_lock(7264042);
  while start <= last_moment at time zone 'UTC' loop
    next := start + ('1 ' || unit)::interval;
    part := parent || '_' || to_char(start, case unit when 'month' then 'YYYYMM' else 'YYYYMMDD' end);
    if to_regclass(quote_ident(part)) is null then
      execute format('lock table %I in access exclusive mode', parent || '_default');
      execute format('create table %I (like %I including all)', part, parent);
      execute format(
        'with moved as (delete from %I where created_at >= %L and created_at < %L returning *) insert into %I select * from moved',
        parent || '_default', start at time zone 'UTC', next at time zone 'UTC', part);
      execute format('alter table %I attach partition %I for values from (%L) to (%L)',
        parent, part, start at time zone 'UTC', next at time zone 'UTC');
      made := made + 1;
    end if;
    start := next;
  end loop;
  return made;
end $function$;

CREATE OR REPLACE FUNCTION public.notify_block_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('blocks', '');
  return null;
end $function$;

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

CREATE OR REPLACE FUNCTION public.notify_copy_state()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('copy_state', new.state);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.notify_session_end()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('sessions', old.id);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.notify_upstream_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('catalog', '');
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'rows of % are never changed or deleted', tg_table_name;
end $function$;

CREATE OR REPLACE FUNCTION public.roll_up_usage(account_ids text[], since_moments timestamp with time zone[], until_moment timestamp with time zone)
 RETURNS void
 LANGUAGE sql
 SET enable_seqscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
  with due_charges as materialized (
    select charge.account_id, date_bin('30 minutes', created_at, 'epoch') as slot_at, key_id, price_id, unit, item_names, paid,
        item_quantities
      from unnest(account_ids, since_moments) as due (account_id, since)
        cross join lateral (
          select * from charges
            where charges.account_id = due.account_id and created_at >= due.since and created_at < until_moment
            offset 0) charge)
  insert into usage_rollups as kept (account_id, slot_at, key_id, price_id, unit, item_names, calls, paid, quantities)
    select account_id, slot_at, key_id, price_id, unit, item_names, count(*), sum(paid),
        array[sum(item_quantities[1]), sum(item_quantities[2]), sum(item_quantities[3]), sum(item_quantities[4]),
          sum(item_quantities[5]), sum(item_quantities[6]), sum(item_quantities[7]), sum(item_quantities[8])]
      from due_charges where cardinality(item_names) <= 8
      group by 1, 2, 3, 4, 5, 6
    union all
    select account_id, slot_at, key_id, price_id, unit, item_names, max(calls), max(paid), array_agg(quantity order by place)
      from (
        select account_id, slot_at, key_id, price_id, unit, item_names, place, count(*) as calls, sum(paid) as paid,
            sum(quantity) as quantity
          from due_charges cross join unnest(item_quantities) with ordinality as item (quantity, place)
          where cardinality(item_names) > 8
          group by 1, 2, 3, 4, 5, 6, 7) items
      group by 1, 2, 3, 4, 5, 6
    on conflict (account_id, slot_at, key_id, price_id, unit, item_names) do update
      set calls = kept.calls + excluded.calls, paid = kept.paid + excluded.paid,
        quantities = add_many_quantities(kept.quantities, excluded.quantities);
$function$;

CREATE OR REPLACE FUNCTION public.tasks_keep_final()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if old.prompt_erased_at is null and new.prompt_erased_at is not null
    and to_jsonb(new) - '{request,inputs,output,prompt_erased_at}'::text[]
      = to_jsonb(old) - '{request,inputs,output,prompt_erased_at}'::text[]
    and new.output in (old.output, erase_revised_prompts(old.output))
  then return new; end if;
  raise exception 'task % is % and cannot become %', old.id, old.state, new.state using errcode = 'check_violation';
end
$function$;
