// Written by `npm run generate` from the migrations.

export type Tables = {
  accounts: AccountsTable;
  api_keys: ApiKeysTable;
  models: ModelsTable;
};

type AccountsTable = {
  id: string;
  email: string;
  password_hash: string | null;
  created_at: Date;
};

type ApiKeysTable = {
  id: string;
  account_id: string;
  name: string;
  hash: Buffer;
  last_four: string;
  created_at: Date;
  revoked_at: Date | null;
};

type ModelsTable = {
  id: string;
  name: string;
  type: string;
  status: string;
  logo: string;
  description: string;
  advantages: string[];
  scenarios: string[];
  capabilities: string[];
  created_at: Date;
};
