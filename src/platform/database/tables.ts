// Written by `npm run generate` from the migrations.
import type { Generated } from "kysely";

export type Tables = {
  account_alerts: AccountAlertsTable;
  account_notes: AccountNotesTable;
  account_notices: AccountNoticesTable;
  account_views: AccountViewsTable;
  account_webhook_secrets: AccountWebhookSecretsTable;
  accounts: AccountsTable;
  admin_keys: AdminKeysTable;
  alarm_checks: AlarmChecksTable;
  alarm_events: AlarmEventsTable;
  alarm_notifications: AlarmNotificationsTable;
  alarm_rules: AlarmRulesTable;
  alarms: AlarmsTable;
  api_key_uses: ApiKeyUsesTable;
  api_keys: ApiKeysTable;
  audit_entries: AuditEntriesTable;
  auto_top_ups: AutoTopUpsTable;
  backup_runs: BackupRunsTable;
  billing_details: BillingDetailsTable;
  billing_documents: BillingDocumentsTable;
  blocks: BlocksTable;
  buckets: BucketsTable;
  catalog_prices: CatalogPricesTable;
  catalog_sources: CatalogSourcesTable;
  catalog_versions: CatalogVersionsTable;
  charges: ChargesTable;
  checkouts: CheckoutsTable;
  clawbacks: ClawbacksTable;
  code_batches: CodeBatchesTable;
  connect_requests: ConnectRequestsTable;
  conversation_items: ConversationItemsTable;
  conversations: ConversationsTable;
  copy_states: CopyStatesTable;
  deliveries: DeliveriesTable;
  delivery_attempts: DeliveryAttemptsTable;
  document_series: DocumentSeriesTable;
  erasures: ErasuresTable;
  event_inboxes: EventInboxesTable;
  events: EventsTable;
  file_usages: FileUsagesTable;
  files: FilesTable;
  holds: HoldsTable;
  idempotency_keys: IdempotencyKeysTable;
  incident_updates: IncidentUpdatesTable;
  incidents: IncidentsTable;
  invoice_terms: InvoiceTermsTable;
  key_spending: KeySpendingTable;
  ledger_checks: LedgerChecksTable;
  ledger_currencies: LedgerCurrenciesTable;
  ledger_sealed_sums: LedgerSealedSumsTable;
  ledger_seals: LedgerSealsTable;
  ledger_verifications: LedgerVerificationsTable;
  money_slot_progress: MoneySlotProgressTable;
  money_slots: MoneySlotsTable;
  operator_actions: OperatorActionsTable;
  operators: OperatorsTable;
  payment_reversals: PaymentReversalsTable;
  plan_periods: PlanPeriodsTable;
  plan_subscriptions: PlanSubscriptionsTable;
  plans: PlansTable;
  postings: PostingsTable;
  prices: PricesTable;
  redeem_codes: RedeemCodesTable;
  request_blocks: RequestBlocksTable;
  request_contents: RequestContentsTable;
  request_errors: RequestErrorsTable;
  request_gaps: RequestGapsTable;
  requests: RequestsTable;
  responses: ResponsesTable;
  saved_cards: SavedCardsTable;
  scheduled_catalogs: ScheduledCatalogsTable;
  scheduled_jobs: ScheduledJobsTable;
  secrets: SecretsTable;
  sign_ups: SignUpsTable;
  statement_months: StatementMonthsTable;
  stored_texts: StoredTextsTable;
  stripe_progress: StripeProgressTable;
  submission_times: SubmissionTimesTable;
  task_counts: TaskCountsTable;
  task_leases: TaskLeasesTable;
  task_orders: TaskOrdersTable;
  tasks: TasksTable;
  traffic_days: TrafficDaysTable;
  traffic_progress: TrafficProgressTable;
  traffic_slots: TrafficSlotsTable;
  unarchived_bytes: UnarchivedBytesTable;
  uncharged_costs: UnchargedCostsTable;
  unowned_bytes: UnownedBytesTable;
  upstream_events: UpstreamEventsTable;
  upstream_health: UpstreamHealthTable;
  upstream_switches: UpstreamSwitchesTable;
  usage_rollups: UsageRollupsTable;
  user_backup_codes: UserBackupCodesTable;
  user_identities: UserIdentitiesTable;
  user_passkeys: UserPasskeysTable;
  user_sessions: UserSessionsTable;
  user_tokens: UserTokensTable;
  users: UsersTable;
  vendor_balances: VendorBalancesTable;
  vendor_limits: VendorLimitsTable;
  wallets: WalletsTable;
  webhook_endpoints: WebhookEndpointsTable;
  webhook_sessions: WebhookSessionsTable;
  welcomed_mailboxes: WelcomedMailboxesTable;
};

type AccountAlertsTable = {
  account_id: string;
  low_balance_nano: bigint | null;
  budget_percent: number | null;
  is_low: Generated<boolean>;
  low_count: Generated<bigint>;
  low_mailed_at: Date | null;
  changed_at: Date;
};

type AccountNotesTable = {
  id: string;
  account_id: string;
  author: string;
  text: string;
  created_at: Date;
};

type AccountNoticesTable = {
  id: string;
  account_id: string;
  kind: string;
  facts: unknown;
  created_at: Date;
  sent_at: Date | null;
};

type AccountViewsTable = {
  id: string;
  account_id: string;
  operator_id: string;
  session_id: string;
  reason: string;
  created_at: Date;
  ends_at: Date;
  ended_at: Date | null;
  ending: string | null;
};

type AccountWebhookSecretsTable = {
  account_id: string;
  sealed_secret: Buffer;
  sealed_previous_secret: Buffer | null;
  previous_secret_until: Date | null;
  created_at: Date;
};

type AccountsTable = {
  id: string;
  email: string;
  created_at: Date;
  plan_id: string | null;
  suspended_at: Date | null;
  requests_per_minute: number | null;
  tokens_per_minute: number | null;
  concurrent_requests: number | null;
  tasks_in_flight: number | null;
  time_zone: Generated<string>;
  closed_at: Date | null;
  spend_capped_until: Date | null;
};

type AdminKeysTable = {
  id: string;
  name: string;
  hash: Buffer;
  last_four: string;
  access: string;
  scopes: string[];
  created_by: string;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
  revoked_at: Date | null;
  revoked_by: string | null;
};

type AlarmChecksTable = {
  rule: string;
  checked_at: Date;
  value_milli: bigint | null;
  subject: string | null;
  trouble: string | null;
};

type AlarmEventsTable = {
  alarm_id: string;
  number: number;
  kind: string;
  state: string;
  actor: string;
  note: string | null;
  created_at: Date;
};

type AlarmNotificationsTable = {
  id: string;
  alarm_id: string;
  channel: string;
  facts: unknown;
  state: string;
  attempts: Generated<number>;
  due_at: Date;
  created_at: Date;
  ended_at: Date | null;
  trouble: string | null;
};

type AlarmRulesTable = {
  rule: string;
  is_on: boolean;
  threshold_milli: bigint | null;
  changed_at: Date;
  changed_by: string;
};

type AlarmsTable = {
  id: string;
  rule: string;
  subject: string;
  state: string;
  value_milli: bigint;
  message: string;
  began_at: Date;
  met_at: Date;
  silenced_until: Date | null;
  ended_at: Date | null;
};

type ApiKeyUsesTable = {
  key_id: string;
  first_used_at: Date;
  last_used_at: Date;
};

type ApiKeysTable = {
  id: string;
  account_id: string;
  name: string;
  hash: Buffer;
  last_four: string;
  created_at: Date;
  revoked_at: Date | null;
  expires_at: Date | null;
  model_ids: string[] | null;
  endpoints: string[] | null;
  addresses: string[] | null;
  budget_nano: bigint | null;
  budget_period: string | null;
  requests_per_minute: number | null;
  tokens_per_minute: number | null;
  concurrent_requests: number | null;
  tasks_in_flight: number | null;
  is_console: Generated<boolean>;
  lineage_id: string;
  logs_content: Generated<boolean>;
};

type AuditEntriesTable = {
  number: bigint;
  created_at: Date;
  actor_kind: string;
  actor_id: string | null;
  actor_name: string;
  address: string | null;
  action: string;
  subject: string | null;
  account_id: string | null;
  reason: string | null;
  before: unknown;
  after: unknown;
  request_id: string | null;
  previous_hash: Buffer;
  hash: Buffer;
  who_salt: Buffer | null;
  who_digest: Buffer | null;
  facts_salt: Buffer | null;
  facts_digest: Buffer | null;
  erased_at: Date | null;
};

type AutoTopUpsTable = {
  account_id: string;
  state: string;
  stop_reason: string | null;
  threshold_nano: bigint;
  amount_nano: bigint;
  amount_minor: bigint;
  month_max_nano: bigint;
  next_at: Date;
  changed_at: Date;
};

type BackupRunsTable = {
  id: string;
  kind: string;
  finished_at: Date;
};

type BillingDetailsTable = {
  account_id: string;
  legal_name: string | null;
  address: string | null;
  country: string | null;
  tax_id: string | null;
  purchase_order: string | null;
  changed_at: Date;
};

type BillingDocumentsTable = {
  position: Generated<bigint>;
  id: string;
  account_id: string;
  kind: string;
  prefix: string;
  number: bigint;
  issued_at: Date;
  currency: string;
  total_nano: bigint;
  tax_nano: bigint;
  payment_id: string | null;
  channel: string | null;
  corrects: string | null;
  reversal_id: string | null;
  month: string | null;
  content: unknown;
};

type BlocksTable = {
  kind: string;
  subject: string;
  reason: string;
  created_at: Date;
  created_by: string;
  ends_at: Date | null;
};

type BucketsTable = {
  id: string;
  account_id: string;
  kind: string;
  unit: string;
  expires_at: Date | null;
  posted: bigint;
  held: bigint;
  entry_count: bigint;
  is_open: boolean;
  opened_at: Date;
};

type CatalogPricesTable = {
  catalog_version: number;
  position: number;
  price_id: string;
};

type CatalogSourcesTable = {
  catalog_version: number;
  source: string;
};

type CatalogVersionsTable = {
  number: number;
  currency: string;
  providers: unknown;
  models: unknown;
  applied_at: Date;
  multipliers: Generated<unknown>;
};

type ChargesTable = {
  id: string;
  hold_id: string;
  account_id: string;
  unit: string;
  price_id: string;
  item_names: string[];
  item_quantities: bigint[];
  item_rates_nano: bigint[];
  rates_per: bigint;
  minimum_nano: bigint;
  quota_units: bigint;
  paid: bigint;
  lost: bigint;
  created_at: Date;
  key_id: string | null;
};

type CheckoutsTable = {
  id: string;
  account_id: string;
  amount_nano: bigint;
  currency: string;
  amount_minor: bigint;
  state: string;
  session_id: string | null;
  session_url: string | null;
  payment_id: string | null;
  note: string | null;
  created_at: Date;
  expires_at: Date;
  completed_at: Date | null;
  polled_at: Date | null;
  ended_at: Date | null;
  refunded_minor: bigint;
  disputed_at: Date | null;
  origin: Generated<string>;
  card_save: string | null;
  customer_id: string | null;
  card_id: string | null;
  declined_charges: Generated<string[]>;
};

type ClawbacksTable = {
  id: string;
  account_id: string;
  channel: string;
  cause_kind: string;
  cause_id: string;
  owed_nano: bigint;
  taken_nano: bigint;
  waived_nano: bigint;
  step_count: number;
  created_at: Date;
  changed_at: Date;
};

type CodeBatchesTable = {
  id: string;
  kind: string;
  amount_nano: bigint;
  currency: string;
  gift_days: number | null;
  note: string;
  code_count: number;
  created_by: string;
  created_at: Date;
  expires_at: Date | null;
};

type ConnectRequestsTable = {
  id: string;
  kind: string;
  client: string;
  state: string;
  redirect_uri: string | null;
  client_state: string | null;
  code_challenge: string | null;
  user_code: string | null;
  polled_at: Date | null;
  poll_seconds: number | null;
  secret_hash: Buffer | null;
  session_id: string | null;
  user_id: string | null;
  account_id: string | null;
  key_days: number | null;
  budget_nano: bigint | null;
  key_id: string | null;
  created_at: Date;
  expires_at: Date;
  client_address: string | null;
  client_user_agent: string | null;
};

type ConversationItemsTable = {
  account_id: string;
  conversation_id: string;
  number: bigint;
  id: string;
  item: string;
};

type ConversationsTable = {
  account_id: string;
  id: string;
  metadata: string;
  item_count: Generated<number>;
  bytes: Generated<bigint>;
  next_number: Generated<bigint>;
  created_at: Date;
  expires_at: Date;
};

type CopyStatesTable = {
  is_only: Generated<boolean>;
  state: string;
  restored_from: string | null;
  restored_at: Date | null;
  confirmed_at: Date | null;
};

type DeliveriesTable = {
  id: string;
  event_id: string;
  account_id: string;
  endpoint_id: string | null;
  url: string;
  lane: string;
  state: string;
  attempt_count: number;
  due_at: Date | null;
  lease_id: string | null;
  created_at: Date;
};

type DeliveryAttemptsTable = {
  delivery_id: string;
  number: number;
  lease_id: string;
  attempted_at: Date;
  duration_ms: number;
  status: number | null;
  error: string | null;
  answer: string | null;
};

type DocumentSeriesTable = {
  kind: string;
  prefix: string;
  last_number: bigint;
};

type ErasuresTable = {
  account_id: string;
  erased_at: Date;
  ends_at: Date;
};

type EventInboxesTable = {
  account_id: string;
  opened_at: Date;
};

type EventsTable = {
  id: string;
  account_id: string;
  type: string;
  data: unknown;
  created_at: Date;
  traceparent: string | null;
};

type FileUsagesTable = {
  account_id: string;
  files: bigint;
  bytes: bigint;
};

type FilesTable = {
  id: string;
  account_id: string;
  purpose: string;
  kind: string;
  content_type: string;
  bytes: bigint;
  sha256: Buffer;
  filename: string;
  width: number | null;
  height: number | null;
  duration_ms: bigint | null;
  storage_key: string;
  created_at: Date;
  expires_at: Date;
  is_withheld: Generated<boolean>;
};

type HoldsTable = {
  id: string;
  account_id: string;
  unit: string;
  amount: bigint;
  bucket_ids: string[];
  bucket_amounts: bigint[];
  state: string;
  settled: bigint;
  refusal: string | null;
  missing: bigint | null;
  fingerprint: string;
  settlement_fingerprint: string | null;
  key_id: string | null;
  budget_starts_at: Date | null;
  cause_kind: string;
  cause_id: string;
  expires_at: Date;
  opened_at: Date;
  resolved_at: Date | null;
};

type IdempotencyKeysTable = {
  account_id: string;
  key: string;
  fingerprint: Buffer;
  request_id: string;
  hold_id: string | null;
  state: string;
  lease_until: Date;
  status: number | null;
  content_type: string | null;
  body: Buffer | null;
  summary: string | null;
  created_at: Date;
  expires_at: Date;
};

type IncidentUpdatesTable = {
  incident_id: string;
  number: number;
  state: string;
  message: string;
  created_at: Date;
  created_by: string;
};

type IncidentsTable = {
  id: string;
  title: string;
  state: string;
  model_ids: string[];
  began_at: Date;
  changed_at: Date;
  ended_at: Date | null;
};

type InvoiceTermsTable = {
  version: number;
  terms: unknown;
  actor: string;
  applied_at: Date;
};

type KeySpendingTable = {
  key_id: string;
  starts_at: Date;
  account_id: string;
  held: bigint;
  spent: bigint;
};

type LedgerChecksTable = {
  checked_at: Date;
  checked_number: bigint;
  previous_number: bigint;
  only_one: Generated<boolean>;
  whole_account_id: string | null;
  whole_unsealed_id: string | null;
  whole_hold_id: string | null;
};

type LedgerCurrenciesTable = {
  currency: string;
  only_one: Generated<boolean>;
};

type LedgerSealedSumsTable = {
  account_id: string;
  about: string;
  name: string;
  entries: bigint;
  total: bigint;
};

type LedgerSealsTable = {
  account_id: string;
  number: bigint;
  wallet_version: bigint;
  sealed_at: Date;
};

type LedgerVerificationsTable = {
  id: string;
  scope: string;
  state: string;
  asked_by: string;
  asked_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
  accounts: bigint | null;
  entries: bigint | null;
  holds: bigint | null;
  violation_count: Generated<number>;
  violations: Generated<unknown>;
};

type MoneySlotProgressTable = {
  is_only: Generated<boolean>;
  covered_from: Date;
  covered_until: Date;
};

type MoneySlotsTable = {
  slot_at: Date;
  calls: bigint;
  unknown_calls: bigint;
  revenue_nano: bigint;
  cost_nano: bigint;
  sold_nano: bigint;
  given_nano: bigint;
  refunded_nano: bigint;
  reversed_nano: bigint;
  expired_nano: bigint;
  adjusted_nano: bigint;
};

type OperatorActionsTable = {
  id: string;
  actor: string;
  action: string;
  reason: string;
  created_at: Date;
};

type OperatorsTable = {
  user_id: string;
  role: string;
  granted_by: string;
  granted_at: Date;
};

type PaymentReversalsTable = {
  id: string;
  number: Generated<bigint>;
  checkout_id: string;
  kind: string;
  status: string;
  amount_minor: bigint;
  reason: string | null;
  received_at: Date;
  changed_at: Date;
};

type PlanPeriodsTable = {
  id: string;
  account_id: string;
  plan_id: string;
  plan_name: string;
  anchored_at: Date;
  starts_at: Date;
  ends_at: Date;
  is_latest: boolean;
};

type PlanSubscriptionsTable = {
  account_id: string;
  plan_id: string;
  price_nano: bigint;
  bought_at: Date;
  canceled_at: Date | null;
};

type PlansTable = {
  id: string;
  name: string;
  requests_per_minute: number | null;
  tokens_per_minute: number | null;
  concurrent_requests: number | null;
  tasks_in_flight: number | null;
  created_at: Date;
  period: Generated<string>;
  quota_text: Generated<bigint>;
  quota_image: Generated<bigint>;
  quota_video: Generated<bigint>;
  quota_weights: unknown;
  price_nano: bigint | null;
  is_for_sale: Generated<boolean>;
};

type PostingsTable = {
  number: Generated<bigint>;
  id: string;
  leg: number;
  account_id: string;
  kind: string;
  unit: string;
  debit: string;
  credit: string;
  amount: bigint;
  bucket_id: string | null;
  entry_number: bigint | null;
  balance_after: bigint | null;
  refund_of: string | null;
  fingerprint: string;
  cause_kind: string;
  cause_id: string;
  created_at: Date;
};

type PricesTable = {
  id: string;
  model_id: string;
  capability: string | null;
  plan_id: string | null;
  account_id: string | null;
  billing_type: string;
  unit: string;
  price_nano: bigint | null;
  input_price_nano: bigint | null;
  output_price_nano: bigint | null;
  cached_input_price_nano: bigint | null;
  minimum_charge_nano: bigint;
  effective_at: Date;
  created_at: Date;
  cache_write_5m_price_nano: bigint | null;
  cache_write_1h_price_nano: bigint | null;
  audio_input_price_nano: bigint | null;
  reasoning_price_nano: bigint | null;
  audio_output_price_nano: bigint | null;
  terms: unknown;
};

type RedeemCodesTable = {
  id: string;
  hash: Buffer;
  last_four: string;
  kind: string;
  amount_nano: bigint;
  currency: string;
  gift_days: number | null;
  note: string;
  created_at: Date;
  expires_at: Date | null;
  voided_at: Date | null;
  redeemed_at: Date | null;
  redeemed_by: string | null;
  batch_id: string | null;
};

type RequestBlocksTable = {
  account_id: string;
  created_at: Date;
  id: string;
  first_at: Date;
  calls: number;
  key_ids: string[];
  wires: string[];
  models: string[];
  statuses: number[];
  error_codes: string[];
  client_id_hashes: number[];
  body: Buffer;
};

type RequestContentsTable = {
  account_id: string;
  created_at: Date;
  id: string;
  state: string;
  sealed: Buffer | null;
};

type RequestErrorsTable = {
  account_id: string;
  created_at: Date;
  id: string;
  message: string;
  param: string | null;
};

type RequestGapsTable = {
  account_id: string;
  id: string;
  from_at: Date;
  to_at: Date;
  lost: number;
};

type RequestsTable = {
  account_id: string;
  created_at: Date;
  id: string;
  key_id: string;
  client_request_id: string | null;
  wire: string | null;
  method: string;
  route: string | null;
  model: string | null;
  status: number;
  error_code: string | null;
  ending: string;
  duration_ms: number;
  first_token_ms: number | null;
  input_tokens: number | null;
  cached_input_tokens: number | null;
  cache_write_tokens: number | null;
  output_tokens: number | null;
  reasoning_tokens: number | null;
  audio_input_tokens: number | null;
  audio_output_tokens: number | null;
  charge_nano: bigint | null;
  charge_id: string | null;
  task_id: string | null;
  user_agent: string | null;
  is_replayed: boolean;
  upstream: string | null;
  failed_attempts: string | null;
};

type ResponsesTable = {
  account_id: string;
  id: string;
  previous_id: string | null;
  state: string;
  input: string;
  body: string;
  bytes: number;
  item_ids: string[] | null;
  events: string | null;
  lease_until: Date | null;
  created_at: Date;
  expires_at: Date;
  work: string | null;
  run: Generated<number>;
};

type SavedCardsTable = {
  account_id: string;
  customer_id: string;
  card_id: string;
  brand: string;
  last4: string;
  exp_month: number;
  exp_year: number;
  saved_at: Date;
};

type ScheduledCatalogsTable = {
  id: string;
  source: string;
  reason: string;
  base_version: number;
  run_at: Date;
  status: string;
  created_at: Date;
  created_by: string;
  finished_at: Date | null;
  version: number | null;
  failure: string | null;
};

type ScheduledJobsTable = {
  name: string;
  schedule: unknown;
  due_at: Date;
  leased_until: Date | null;
  fencing_token: number;
};

type SecretsTable = {
  name: string;
  version: number;
  sealed_value: Buffer;
  created_at: Date;
  created_by: string;
  retired_at: Date | null;
  last_used_at: Date | null;
};

type SignUpsTable = {
  id: string;
  created_at: Date;
  network: string;
  mail_domain: string;
  account_id: string | null;
  refusal: string | null;
  cap_lifted_at: Date | null;
};

type StatementMonthsTable = {
  month: string;
  done_until: string;
  is_done: Generated<boolean>;
};

type StoredTextsTable = {
  account_id: string;
  shard: number;
  bytes: bigint;
};

type StripeProgressTable = {
  polled_until: Date;
  only_one: Generated<boolean>;
};

type SubmissionTimesTable = {
  place: string;
  next_at: Date;
};

type TaskCountsTable = {
  owner_id: string;
  open_tasks: number;
};

type TaskLeasesTable = {
  task_id: string;
  next_poll_at: Date;
  fencing_token: number;
  polls: number;
  rested_at: Date | null;
  hinted_after_ms: number | null;
};

type TaskOrdersTable = {
  account_id: string;
  client_business_id: string;
  scope: string;
  fingerprint: Buffer;
  task_id: string;
};

type TasksTable = {
  id: string;
  account_id: string;
  key_id: string;
  parent_id: string | null;
  type: string;
  model: string;
  state: string;
  phase: string;
  progress: number;
  version: number;
  request: unknown;
  inputs: unknown;
  terms: unknown;
  hold_id: string | null;
  output_ids: string[];
  output: unknown;
  warnings: unknown;
  error: unknown;
  charge: bigint;
  units: bigint;
  metadata: unknown;
  callback_url: string | null;
  request_id: string;
  client_request_id: string | null;
  target: unknown;
  provider_id: string | null;
  handle: unknown;
  tried: unknown;
  waits_for: string | null;
  lost_at: Date | null;
  cancel_requested_at: Date | null;
  cancel_sent_at: Date | null;
  deadline_at: Date;
  created_at: Date;
  submitted_at: Date | null;
  started_at: Date | null;
  finished_at: Date | null;
  updated_at: Date;
  steps: unknown;
  traceparent: string | null;
  prompt_erased_at: Date | null;
};

type TrafficDaysTable = {
  day: string;
  kind: string;
  subject: string;
  calls: bigint;
  failed: bigint;
};

type TrafficProgressTable = {
  is_only: Generated<boolean>;
  counted_until: Date;
  run_at: Date;
};

type TrafficSlotsTable = {
  slot_at: Date;
  kind: string;
  subject: string;
  calls: bigint;
  failed: bigint;
};

type UnarchivedBytesTable = {
  storage_key: string;
};

type UnchargedCostsTable = {
  id: string;
  created_at: Date;
  account_id: string;
  model_id: string;
  provider_id: string;
  upstream_model: string;
  calls: number;
  cost_nano: bigint;
};

type UnownedBytesTable = {
  storage_key: string;
  due_at: Date;
  is_doomed: boolean;
};

type UpstreamEventsTable = {
  id: Generated<bigint>;
  kind: string;
  at: Date;
  provider_id: string;
  upstream_model: string | null;
  key_number: number | null;
  actor: string | null;
  detail: string | null;
};

type UpstreamHealthTable = {
  node_id: string;
  provider_id: string;
  upstream_model: string;
  key_number: number;
  state: string;
  failures: number;
  last_failure: string;
  open_until: Date;
  reported_at: Date;
};

type UpstreamSwitchesTable = {
  id: Generated<bigint>;
  kind: string;
  subject: string;
  mode: string;
  reason: string;
  created_at: Date;
  created_by: string;
  ends_at: Date | null;
  ended_at: Date | null;
  ended_by: string | null;
};

type UsageRollupsTable = {
  account_id: string;
  slot_at: Date;
  key_id: string | null;
  price_id: string;
  unit: string;
  item_names: string[];
  calls: bigint;
  paid: bigint;
  quantities: bigint[];
};

type UserBackupCodesTable = {
  user_id: string;
  code_hash: Buffer;
};

type UserIdentitiesTable = {
  provider_id: string;
  subject: string;
  user_id: string;
  created_at: Date;
};

type UserPasskeysTable = {
  id: string;
  user_id: string;
  credential_id: string;
  public_key: Buffer;
  sign_count: bigint;
  transports: string[];
  name: string;
  created_at: Date;
  last_used_at: Date | null;
};

type UserSessionsTable = {
  id: string;
  user_id: string;
  token_hash: Buffer;
  created_at: Date;
  last_seen_at: Date;
  fresh_until: Date;
  user_agent: string;
  address: string;
  previous_token_hash: Buffer | null;
  previous_token_until: Date | null;
  is_two_step: Generated<boolean>;
};

type UserTokensTable = {
  hash: Buffer;
  kind: string;
  email: string | null;
  user_id: string | null;
  details: unknown;
  created_at: Date;
  expires_at: Date;
};

type UsersTable = {
  id: string;
  account_id: string;
  email: string;
  name: string | null;
  password_hash: string | null;
  email_verified_at: Date | null;
  is_operator: Generated<boolean>;
  totp_secret: Buffer | null;
  totp_secret_waiting: Buffer | null;
  totp_last_step: bigint | null;
  created_at: Date;
};

type VendorBalancesTable = {
  provider_id: string;
  key_number: number;
  balance_nano: bigint | null;
  currency: string | null;
  read_at: Date | null;
  asked_at: Date;
  failure: string | null;
};

type VendorLimitsTable = {
  provider_id: string;
  upstream_model: string;
  key_number: number;
  name: string;
  most: bigint | null;
  remaining: bigint | null;
  resets_at: Date | null;
  seen_at: Date;
};

type WalletsTable = {
  account_id: string;
  version: Generated<bigint>;
  changed_at: Generated<Date>;
  frozen_at: Date | null;
  frozen_reason: string | null;
  plain_writes: Generated<bigint>;
  reserved: Generated<bigint>;
  reserved_by: string | null;
  reserved_until: Generated<Date>;
  reserve_revoked: Generated<boolean>;
  rolled_until: Generated<Date>;
  books_from: Generated<Date>;
  has_unrolled: Generated<boolean>;
};

type WebhookEndpointsTable = {
  id: string;
  account_id: string;
  url: string;
  description: string;
  event_types: string[];
  sealed_secret: Buffer;
  sealed_previous_secret: Buffer | null;
  previous_secret_until: Date | null;
  failing_since: Date | null;
  disabled_at: Date | null;
  disabled_reason: string | null;
  created_at: Date;
};

type WebhookSessionsTable = {
  id: string;
  account_id: string;
  key_id: string;
  reader_id: string | null;
  started_at: Date;
  listening_until: Date;
};

type WelcomedMailboxesTable = {
  mailbox_hash: Buffer;
  welcomed_at: Date;
};
