import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Gateway, startGateway as startRealGateway } from "../../src/app/start-gateway.ts";
import { adminCommands } from "../../src/cli/run-for-admin.ts";
import {
  createAccount,
  createApiKey,
  type KeyRestrictions,
  listAccounts,
  listPlans,
} from "../../src/features/accounts/index.ts";
import { applyCatalog, type CatalogOutcome } from "../../src/features/catalog/index.ts";
import type { StripePlace } from "../../src/features/payments/index.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import type { AccountId, KeyId } from "../../src/lib/ids.ts";
import { createIdSource } from "../../src/lib/ids.ts";
import { loadSettings, type Settings } from "../../src/platform/config/load-settings.ts";
import { createDatabase, type Database, toDatabaseAddress } from "../../src/platform/database/database.ts";
import { createLogger } from "../../src/platform/observability/logger.ts";
import { dataParent } from "./data-parent.ts";
import { createTestDatabase, type TestDatabase } from "./test-database.ts";

type TestCaller = { accountId: AccountId; keyId: KeyId; key: string };

export type TestGateway = AsyncDisposable & {
  port: number;
  /** The port of metrics, if the settings enable them. */
  metricsPort: number | null;
  siteUrl: string;
  baseUrl: string;
  /** The page of unsent mails, with its secret. */
  outboxUrl: string | null;
  database: Database;
  /** Clock, ids and the database, as operations take them. */
  parts: { database: Database; clock: Clock; ids: ReturnType<typeof createIdSource>; hasModel(id: string): boolean };
  /** Every log line so far, parsed. */
  logs: Record<string, unknown>[];
  /** A new account with a new key. */
  createCaller(options?: { planId?: string } & Partial<KeyRestrictions>): Promise<TestCaller>;
  applyCatalog(source: string): Promise<CatalogOutcome>;
  /** The version of the catalog that the gateway currently serves. */
  catalogVersion(): number;
  countRunningCalls: Gateway["countRunningCalls"];
  /** Applies another brand, like a gateway that reloads its settings. */
  rebrand(settings: Partial<Settings>): void;
  /** Calls the API with a key. */
  get(path: string, key: string, headers?: Record<string, string>): Promise<Response>;
  /** Stops the gateway; the test keeps its own connection to the database. */
  close(): Promise<void>;
};

type TestGatewayOptions = {
  settings?: Partial<Settings>;
  clock?: Clock;
  /** A Stripe of the test's own. */
  stripe?: StripePlace;
  /** A database that other gateways share and the test closes; without it the gateway has its own. */
  sharedDatabase?: TestDatabase;
};

/** The sandbox is prepared with the usual settings, and at the real time. */
function chooseContent({ settings = {}, clock }: TestGatewayOptions): "schema" | "sandbox" {
  const isUsual = clock === undefined && settings.sandbox === undefined && settings.currency === undefined;
  return isUsual ? "sandbox" : "schema";
}

/** The whole gateway in this process, on a real socket and a real database. */
export async function startGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const testDatabase = options.sharedDatabase ?? (await createTestDatabase({ content: chooseContent(options) }));
  const clock = options.clock ?? systemClock;
  const ids = createIdSource({ clock, randomBytes });
  const logs: Record<string, unknown>[] = [];
  const dataDir = mkdtempSync(join(dataParent, "sluice-data-"));
  const settings: Settings = {
    ...loadSettings({ environment: {}, directory: tmpdir() }),
    data_dir: dataDir,
    database_url: testDatabase.url,
    // Any free port: tests run in parallel.
    port: 0,
    host: "127.0.0.1",
    ...options.settings,
  };
  const gateway: Gateway = await startRealGateway({
    settings,
    ...(options.stripe === undefined ? {} : { stripe: options.stripe }),
    clock,
    ids,
    randomBytes,
    commands: adminCommands,
    logger: createLogger({ level: "debug", format: "json", write: (line) => logs.push(JSON.parse(line)) }),
    onProgress: () => {},
    onLost: (error) => {
      throw error;
    },
  });
  const address = toDatabaseAddress(testDatabase.url);
  const database = createDatabase({ address, connectionsMax: 2, onConnectionError: () => {} });
  const siteUrl = `http://127.0.0.1:${gateway.port}`;
  const baseUrl = `${siteUrl}/v1`;
  const parts = { database, clock, ids, randomBytes, hasModel: () => true };
  return {
    port: gateway.port,
    metricsPort: gateway.metricsPort,
    siteUrl,
    baseUrl,
    outboxUrl: gateway.outboxUrl,
    database,
    parts,
    logs,
    async createCaller({ planId, ...restrictions } = {}) {
      const email = `${randomBytes(6).toString("hex")}@example.com`;
      const account = await createAccount(parts, {
        email,
        ...(planId === undefined ? {} : { planId }),
      });
      const { apiKey, text } = await createApiKey(parts, { accountId: account.id, name: "test", ...restrictions });
      return { accountId: account.id, keyId: apiKey.id, key: text };
    },
    async applyCatalog(source) {
      const surroundings = {
        currency: settings.currency,
        planIds: new Set((await listPlans(database)).map(({ id }) => id)),
        accountIds: new Set<string>((await listAccounts(database)).map(({ id }) => id)),
        hasSecret: () => true,
        findPackageFault: () => null,
      };
      return await applyCatalog({ ...parts, surroundings }, source);
    },
    catalogVersion: gateway.catalogVersion,
    countRunningCalls: gateway.countRunningCalls,
    rebrand: (changed) => gateway.rebrand({ ...settings, ...changed }),
    get: (path, key, headers = {}) =>
      fetch(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${key}`, ...headers } }),
    close: () => gateway.close(),
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await database.destroy();
      if (options.sharedDatabase === undefined) await testDatabase.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
