import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { createAccount, createApiKey } from "../../../src/features/accounts/index.ts";
import { applyCatalog } from "../../../src/features/catalog/index.ts";
import { bookCredit } from "../../../src/features/ledger/index.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { type AccountId, createIdSource } from "../../../src/lib/ids.ts";
import { nano } from "../../../src/lib/money.ts";
import { createDatabase, type Database } from "../../../src/platform/database/database.ts";
import { getClusterPaths } from "../../../src/platform/database/embedded/cluster-directory.ts";
import { findFreePort, type GatewayProcess, startGatewayProcess } from "../gateway-process.ts";
import { createPreparedDirectory } from "../prepared-directory.ts";
import { type FakeUpstreams, startFakeUpstreams } from "../upstreams/fake-upstreams.ts";
import { waitUntil } from "../wait-until.ts";
import { upstreamKeyName, writeChatCatalog } from "./chat-catalog.ts";

const leaseMs = 60_000;

export type Customer = { accountId: AccountId; key: string; isKeyed: boolean };

/** A gateway that is killed and started again. */
export type CrashPlace = AsyncDisposable & {
  upstream: FakeUpstreams;
  baseUrl: string;
  /** Two with keys and two without, to tell their charges apart. */
  customers: Customer[];
  database(): Database;
  kill(signal?: "SIGKILL" | "SIGTERM"): Promise<void>;
  restart(): Promise<void>;
  /** Ends the leases that the dead process left, as if a minute had passed. */
  endLeases(): Promise<void>;
};

/** A gateway as users run it, with its own database on disk; the upstream outlives it. */
export async function openCrashPlace(): Promise<CrashPlace> {
  const upstream = await startFakeUpstreams();
  const data = createPreparedDirectory();
  const environment = {
    SLUICE_DATA_DIR: data.path,
    SLUICE_PORT: await findFreePort(),
    [upstreamKeyName]: "sk-fake-upstream",
  };
  let gateway: GatewayProcess = await startGatewayProcess({ environment });
  let database = connect(data.path);
  const customers = await prepare(database, upstream);
  const baseUrl = `http://127.0.0.1:${environment.SLUICE_PORT}/v1`;
  await waitUntil("the catalog to be served", async () => {
    const headers = { authorization: `Bearer ${customers[0]?.key}` };
    return (await fetch(`${baseUrl}/models/open`, { headers })).status === 200;
  });
  return {
    upstream,
    baseUrl,
    customers,
    database: () => database,
    async kill(signal = "SIGKILL") {
      gateway.kill(signal);
      await gateway.exited;
    },
    async restart() {
      await database.destroy();
      gateway = await startGatewayProcess({ environment });
      database = connect(data.path);
    },
    async endLeases() {
      const earlier = new Date(systemClock.now().getTime() - leaseMs);
      await database
        .updateTable("idempotency_keys")
        .set({ lease_until: earlier })
        .where("state", "=", "running")
        .execute();
      await database
        .updateTable("responses")
        .set({ lease_until: earlier })
        .where("state", "=", "in_progress")
        .execute();
    },
    async [Symbol.asyncDispose]() {
      await database.destroy();
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
      data[Symbol.dispose]();
    },
  };
}

function connect(dataDir: string): Database {
  const { socketDir, passwordFile } = getClusterPaths(dataDir);
  const password = readFileSync(passwordFile, "utf8");
  const address = { host: socketDir, user: "sluice", password, database: "sluice" };
  return createDatabase({ address, connectionsMax: 2, onConnectionError: () => {} });
}

async function prepare(database: Database, upstream: FakeUpstreams): Promise<Customer[]> {
  const ids = createIdSource({ clock: systemClock, randomBytes });
  const parts = { database, clock: systemClock, ids, randomBytes, hasModel: () => true };
  const surroundings = {
    ...{ currency: "USD", planIds: new Set<string>(), accountIds: new Set<string>() },
    hasSecret: () => true,
    findPackageFault: () => null,
  };
  const outcome = await applyCatalog({ ...parts, surroundings }, writeChatCatalog(upstream));
  expect(outcome).toMatchObject({ version: expect.any(Number) });
  const customers: Customer[] = [];
  for (const isKeyed of [true, true, false, false]) {
    const email = `${randomBytes(6).toString("hex")}@example.com`;
    const { id: accountId } = await createAccount(parts, { email });
    const { text: key } = await createApiKey(parts, { accountId, name: "crash" });
    const booking = { kind: "top-up", amount: nano(10_000_000_000_000n) } as const;
    await bookCredit(parts, { accountId, booking, actor: "test", reason: "test", reference: null });
    customers.push({ accountId, key, isKeyed });
  }
  return customers;
}
