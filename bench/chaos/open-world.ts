import { randomBytes } from "node:crypto";
import pg from "pg";
import { stringify } from "yaml";
import { createAccount, createApiKey, updateAccount } from "../../src/features/accounts/index.ts";
import { applyCatalog } from "../../src/features/catalog/index.ts";
import { bookCredit } from "../../src/features/ledger/index.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createIdSource } from "../../src/lib/ids.ts";
import { nano } from "../../src/lib/money.ts";
import { createDatabase } from "../../src/platform/database/database.ts";
import { findFreePort } from "../../test/harness/gateway-process.ts";
import { externalBinaries, startExternalPostgres } from "../../test/harness/servers/external-postgres.ts";
import { hasRedis, startRedisServer } from "../../test/harness/servers/redis-server.ts";
import { startS3Server } from "../../test/harness/servers/s3-server.ts";
import { openTcpGate, type TcpGate } from "../../test/harness/servers/tcp-gate.ts";
import { waitUntil } from "../../test/harness/wait-until.ts";
import { type ChaosNode, createChaosNode, waitForReady } from "./chaos-node.ts";
import { type ChaosReceiver, startChaosReceiver } from "./chaos-receiver.ts";
import { type ChaosUpstream, startChaosUpstream } from "./chaos-upstream.ts";
import { accountsCount } from "./operation.ts";
import { chatPrice, creditNano, imagePrice } from "./prices.ts";

export type Customer = { accountId: string; headers: Record<string, string> };

/** The environment of a run. Faults cut what gateways reach through a gate. */
export type World = AsyncDisposable & {
  nodes: readonly ChaosNode[];
  customers: readonly Customer[];
  upstream: ChaosUpstream;
  receiver: ChaosReceiver;
  databaseGate: TcpGate;
  /** `null` if no Redis is installed. */
  redisGate: TcpGate | null;
  restartDatabase(): Promise<void>;
  /** The environment of a command that reaches the database, bypassing the gate. */
  environment: Record<string, string>;
  query(statement: string): Promise<Record<string, unknown>[]>;
};

const limitMax = 1_000_000_000;
const upstreamKeyName = "CHAOS_UPSTREAM_KEY";

export async function openWorld({ seed, nodesCount }: { seed: number; nodesCount: number }): Promise<World> {
  if (externalBinaries === null) throw new Error("Chaos needs the system's PostgreSQL: apt-get install postgresql");
  await using opened = new AsyncDisposableStack();
  const postgres = opened.use(await startExternalPostgres(externalBinaries));
  const gatedUrl = replacePort(postgres.url, await findFreePort());
  const databaseGate = await openGate(gatedUrl, postgres.url);
  opened.defer(() => databaseGate.close());
  const redis = hasRedis ? opened.use(await startRedisServer()) : null;
  const gatedRedisUrl = redis === null ? null : replacePort(redis.url, await findFreePort());
  const redisGate = redis === null || gatedRedisUrl === null ? null : await openGate(gatedRedisUrl, redis.url);
  opened.defer(async () => await redisGate?.close());
  const storage = opened.use(await startS3Server());
  const upstream = await startChaosUpstream(seed);
  opened.defer(() => upstream.close());
  const receiver = await startChaosReceiver();
  opened.defer(() => receiver.close());
  const own = {
    SLUICE_SECRET_KEY: randomBytes(32).toString("hex"),
    SLUICE_LOG_FORMAT: "json",
    SLUICE_LOG_LEVEL: "warn",
    SLUICE_SHUTDOWN_TIMEOUT_MS: "5000",
    SLUICE_S3_BUCKET: storage.bucket,
    SLUICE_S3_ENDPOINT: storage.endpoint,
    SLUICE_S3_PATH_STYLE: "on",
    SLUICE_S3_ACCESS_KEY_ID: "S3RVER",
    SLUICE_S3_SECRET_ACCESS_KEY: "S3RVER",
    [upstreamKeyName]: "sk-chaos",
  };
  const environment = { ...own, SLUICE_DATABASE_URL: postgres.url };
  const behindGates = {
    ...own,
    SLUICE_DATABASE_URL: gatedUrl,
    ...(gatedRedisUrl === null ? { SLUICE_UNSHARED_NODES: "allow" } : { SLUICE_REDIS_URL: gatedRedisUrl }),
  };
  const nodes: ChaosNode[] = [];
  for (let index = 0; index < nodesCount; index += 1) {
    const node = createChaosNode(await findFreePort(), behindGates);
    opened.defer(() => node.close());
    node.start();
    nodes.push(node);
    // One after another: the first creates the sandbox's data.
    await waitForReady([node]);
  }
  const customers = await createCustomers(postgres.url, writeCatalog(upstream.port));
  await awaitCatalog(nodes, customers);
  await createEndpoints(nodes, customers, receiver);
  const resources = opened.move();
  return {
    ...{ nodes, customers, upstream, receiver, databaseGate, redisGate, environment },
    restartDatabase: () => postgres.restart(),
    query: (statement) => runQuery(postgres.url, statement),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function replacePort(url: string, port: string): string {
  const replaced = new URL(url);
  replaced.port = port;
  return replaced.href;
}

async function openGate(url: string, target: string): Promise<TcpGate> {
  return await openTcpGate({ port: Number(new URL(url).port), targetPort: Number(new URL(target).port) });
}

/** On a new connection, since the server may have been restarted meanwhile. */
async function runQuery(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(statement);
    return rows;
  } finally {
    await client.end();
  }
}

/** The run's accounts, with credit and without limits, after the catalog is applied. */
export async function createCustomers(databaseUrl: string, catalog: string): Promise<Customer[]> {
  const address = { connectionString: databaseUrl };
  const database = createDatabase({ address, connectionsMax: 2, onConnectionError: () => {} });
  try {
    const ids = createIdSource({ clock: systemClock, randomBytes });
    const dependencies = { database, clock: systemClock, ids, randomBytes, hasModel: () => true };
    const known = { planIds: new Set<string>(), accountIds: new Set<string>() };
    const surroundings = { ...known, currency: "USD", hasSecret: () => true, findPackageFault: () => null };
    const outcome = await applyCatalog({ ...dependencies, surroundings }, catalog);
    if (outcome.kind !== "accepted") throw new Error(JSON.stringify(outcome));
    const customers: Customer[] = [];
    for (let number = 0; number < accountsCount; number += 1) {
      const { id: accountId } = await createAccount(dependencies, { email: `chaos-${number}@example.com` });
      const limits = { requestsPerMinute: limitMax, tokensPerMinute: limitMax, concurrentRequests: limitMax };
      await updateAccount(dependencies, accountId, { limits: { ...limits, tasksInFlight: limitMax } });
      const { text: key } = await createApiKey(dependencies, { accountId, name: "chaos" });
      const booking = { kind: "top-up", amount: nano(creditNano) } as const;
      await bookCredit(dependencies, { accountId, booking, actor: "chaos", reason: "chaos", reference: null });
      customers.push({ accountId, headers: { authorization: `Bearer ${key}` } });
    }
    return customers;
  } finally {
    await database.destroy();
  }
}

function writeCatalog(port: number): string {
  const keys = [`\${${upstreamKeyName}}`];
  const timeouts = { first_byte_ms: 10_000, idle_ms: 10_000, total_ms: 20_000 };
  const chatProvider = (id: string) => ({
    ...{ id, kind: "openai-compatible", base_url: `http://127.0.0.1:${port}/${id}/v1`, api_keys: keys, timeouts },
  });
  return stringify({
    currency: "USD",
    providers: [
      chatProvider("a"),
      chatProvider("b"),
      { id: "fal", kind: "fal", base_url: `http://127.0.0.1:${port}/fal`, api_keys: keys },
    ],
    models: [
      {
        ...{ id: "chat", name: "chat", type: "chat", capabilities: ["chat", "streaming"] },
        limits: { context_window: 1_000_000, max_output_tokens: 1000 },
        routes: ["a", "b"].map((provider) => ({ provider, upstream_model: "chaos", priority: 0 })),
      },
      {
        ...{ id: "image", name: "image", type: "image", capabilities: ["text_to_image"] },
        limits: { sizes: ["64x64"], max_n: 1, max_prompt_length: 1000 },
        routes: [{ provider: "fal", upstream_model: "chaos/image" }],
      },
    ],
    prices: [
      {
        ...{ model: "chat", billing_type: "token", unit: "1K tokens" },
        ...{ input_price: chatPrice.inputPrice, output_price: chatPrice.outputPrice },
      },
      { model: "image", billing_type: "per_call", unit: "image", price: imagePrice },
    ],
  });
}

export async function awaitCatalog(
  nodes: readonly ChaosNode[],
  customers: readonly Customer[],
  modelId = "chat",
): Promise<void> {
  const headers = customers[0]?.headers ?? {};
  for (const { url } of nodes) {
    await waitUntil(
      "the catalog to be served",
      async () => (await fetch(`${url}/v1/models/${modelId}`, { headers })).ok,
    );
  }
}

async function createEndpoints(
  [node]: readonly ChaosNode[],
  customers: readonly Customer[],
  receiver: ChaosReceiver,
): Promise<void> {
  for (const [account, { headers }] of customers.entries()) {
    const answer = await fetch(`${node?.url}/v1/webhook_endpoints`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ url: receiver.getUrl(account), event_types: [] }),
    });
    const body = (await answer.json()) as { secret?: string };
    if (body.secret === undefined) throw new Error(JSON.stringify(body));
    receiver.learnSecret(account, body.secret);
  }
}
