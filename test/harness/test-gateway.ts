import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { type Gateway, startGateway as startRealGateway } from "../../src/app/start-gateway.ts";
import { createAccount, createApiKey } from "../../src/features/accounts/index.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import type { AccountId, KeyId } from "../../src/lib/ids.ts";
import { createIdSource } from "../../src/lib/ids.ts";
import { loadSettings, type Settings } from "../../src/platform/config/load-settings.ts";
import { createDatabase, type Database } from "../../src/platform/database/database.ts";
import { createLogger } from "../../src/platform/observability/logger.ts";
import { createTestDatabase } from "./test-database.ts";

export type TestGateway = AsyncDisposable & {
  port: number;
  siteUrl: string;
  baseUrl: string;
  database: Database;
  /** Every log line so far, parsed. */
  logs: Record<string, unknown>[];
  /** A new account with a new key. */
  createCaller(): Promise<{ accountId: AccountId; keyId: KeyId; key: string }>;
};

type TestGatewayOptions = { settings?: Partial<Settings>; clock?: Clock };

/** The whole gateway in this process, on a real socket and a database of its own. */
export async function startGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const testDatabase = await createTestDatabase();
  const clock = options.clock ?? systemClock;
  const ids = createIdSource({ clock, randomBytes });
  const logs: Record<string, unknown>[] = [];
  const settings: Settings = {
    ...loadSettings({ environment: {}, directory: tmpdir() }),
    database_url: testDatabase.url,
    // Any free port: tests run side by side.
    port: 0,
    host: "127.0.0.1",
    ...options.settings,
  };
  const gateway: Gateway = await startRealGateway({
    settings,
    clock,
    ids,
    randomBytes,
    logger: createLogger({ level: "debug", format: "json", write: (line) => logs.push(JSON.parse(line)) }),
    onProgress: () => {},
    onLost: (error) => {
      throw error;
    },
  });
  const address = { connectionString: testDatabase.url };
  const database = createDatabase({ address, connectionsMax: 2, onConnectionError: () => {} });
  const siteUrl = `http://127.0.0.1:${gateway.port}`;
  let accountCount = 0;
  return {
    port: gateway.port,
    siteUrl,
    baseUrl: `${siteUrl}/v1`,
    database,
    logs,
    async createCaller() {
      accountCount += 1;
      const parts = { database, clock, ids, randomBytes };
      const account = await createAccount(parts, { email: `caller-${accountCount}@example.com`, password: null });
      const { apiKey, text } = await createApiKey(parts, { accountId: account.id, name: "test" });
      return { accountId: account.id, keyId: apiKey.id, key: text };
    },
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await database.destroy();
      await testDatabase.close();
    },
  };
}
