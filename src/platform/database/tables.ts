// Written by `npm run generate` from the migrations.

export type Tables = {
  accounts: AccountsTable;
  api_keys: ApiKeysTable;
  catalog_prices: CatalogPricesTable;
  catalog_versions: CatalogVersionsTable;
  plans: PlansTable;
  prices: PricesTable;
};

type AccountsTable = {
  id: string;
  email: string;
  password_hash: string | null;
  created_at: Date;
  plan_id: string | null;
  suspended_at: Date | null;
  requests_per_minute: number | null;
  tokens_per_minute: number | null;
  concurrent_requests: number | null;
  tasks_in_flight: number | null;
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
};

type CatalogPricesTable = {
  catalog_version: number;
  position: number;
  price_id: string;
};

type CatalogVersionsTable = {
  number: number;
  currency: string;
  providers: unknown;
  models: unknown;
  applied_at: Date;
};

type PlansTable = {
  id: string;
  name: string;
  requests_per_minute: number | null;
  tokens_per_minute: number | null;
  concurrent_requests: number | null;
  tasks_in_flight: number | null;
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
};
