import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { Pool } from "undici";
import { stringify } from "yaml";
import { openEmbeddedPostgres } from "../src/platform/database/embedded/embedded-postgres.ts";
import { findFreePort } from "../test/harness/gateway-process.ts";
import { presentSocketUrl } from "../test/harness/test-database.ts";
import { waitUntil } from "../test/harness/wait-until.ts";
import { findMedian } from "./measure-cpu.ts";
import { type MediaUpstream, startMediaUpstream } from "./media-upstream.ts";
import { buildMain, describeNode } from "./sluice-gateway.ts";
import { presentTable } from "./write-results.ts";

const callers = 32;
const rounds = 6;
const roundMs = 2_000;
const loneTasks = 40;
const idleMs = 8_000;

/**
 * Compares the task queue of this checkout with another's: `npm run bench -- queue <other checkout>`. Both run at once,
 * each on its own PostgreSQL, and are measured in turns, with one node and with three.
 */
export async function measureQueue([other = ""]: string[]): Promise<void> {
  if (other === "") throw new Error("Write the folder of another checkout.");
  const upstream = await startMediaUpstream();
  const rows: string[][] = [];
  try {
    for (const nodes of [1, 3]) rows.push(...(await compare(upstream, { other: resolve(other), nodes })));
  } finally {
    await upstream.close();
  }
  console.log(presentTable(["what", "other", "this"], rows));
}

type Figures = { rate: number[]; doneRate: number[]; startMs: number[]; idle: number; connections: number };

async function compare(upstream: MediaUpstream, { other, nodes }: { other: string; nodes: number }) {
  const folders = [other, join(import.meta.dirname, "..")];
  const clusters: Cluster[] = [];
  const figures: Figures[] = [];
  try {
    for (const folder of folders) {
      clusters.push(await startCluster(folder, { nodes, upstreamPort: upstream.port }));
      figures.push({ rate: [], doneRate: [], startMs: [], idle: 0, connections: 0 });
    }
    for (const [index, cluster] of clusters.entries()) {
      const idle = await measureIdle(cluster);
      Object.assign(figures[index] ?? {}, { idle });
    }
    for (let round = 0; round <= rounds; round += 1) {
      // Each one is first in turn: the load of the previous one affects the next.
      const turns = [...clusters.entries()];
      for (const [index, cluster] of round % 2 === 0 ? turns : turns.toReversed()) {
        const figure = figures[index];
        const startMs = await measureStarts(cluster, upstream, round);
        const { rate, doneRate, connections } = await measureCrowd(cluster);
        // The first round is warm-up, and is not counted.
        if (round === 0 || figure === undefined) continue;
        figure.startMs.push(...startMs);
        figure.rate.push(rate);
        figure.doneRate.push(doneRate);
        figure.connections = Math.max(figure.connections, connections);
      }
    }
  } finally {
    for (const cluster of clusters) await cluster.close();
  }
  const line = (what: string, present: (figure: Figures) => string): string[] => [
    `${what}, ${nodes} ${nodes === 1 ? "node" : "nodes"}`,
    ...figures.map(present),
  ];
  const at = (list: number[], share: number): number =>
    list.toSorted((a, b) => a - b)[Math.floor(list.length * share)] ?? 0;
  return [
    line("submissions a second", ({ rate }) => findMedian(rate).toFixed(0)),
    line("tasks done a second", ({ doneRate }) => findMedian(doneRate).toFixed(0)),
    line(
      "answer to upstream's hearing, ms, p50 / p99",
      ({ startMs }) => `${at(startMs, 0.5).toFixed(1)} / ${at(startMs, 0.99).toFixed(1)}`,
    ),
    line("connections under load", ({ connections }) => String(connections)),
    line("transactions a second when idle", ({ idle }) => idle.toFixed(1)),
  ];
}

type Cluster = { client: pg.Client; pools: Pool[]; headers: Record<string, string>; close(): Promise<void> };

async function startCluster(
  folder: string,
  { nodes, upstreamPort }: { nodes: number; upstreamPort: number },
): Promise<Cluster> {
  const dataDir = mkdtempSync(join(tmpdir(), "sluice-queue-"));
  const server = await openEmbeddedPostgres({ dataDir, purpose: "gateway", onProgress: () => {}, onLost: () => {} });
  if (!("host" in server.address)) throw new Error("The server has no socket.");
  const { host, user, password } = server.address;
  const maintenance = new pg.Client({ host, user, password, database: "postgres" });
  await maintenance.connect();
  await maintenance.query("create database bench");
  await maintenance.end();
  const environment = {
    DATABASE_URL: presentSocketUrl({ host, user, password }, "bench"),
    BENCH_UPSTREAM_KEY: "sk-bench",
    ...describeNode(folder),
  };
  const gateways: { stop(): Promise<void>; port: number }[] = [];
  for (let node = 0; node < nodes; node += 1) {
    gateways.push(await startGateway(folder, { ...environment, SLUICE_DATA_DIR: mkdtempSync(join(dataDir, "node-")) }));
  }
  const headers = await prepare(folder, {
    environment: { ...environment, SLUICE_DATA_DIR: dataDir },
    dataDir,
    upstreamPort,
  });
  const client = new pg.Client({ host, user, password, database: "bench", application_name: "bench" });
  await client.connect();
  const pools = gateways.map(({ port }) => new Pool(`http://127.0.0.1:${port}`, { connections: callers }));
  return {
    ...{ client, pools, headers },
    async close() {
      for (const pool of pools) await pool.close();
      await client.end();
      for (const { stop } of gateways) await stop();
      await server.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function startGateway(folder: string, environment: Record<string, string>) {
  const port = Number(await findFreePort());
  const words = ["--min-semi-space-size=8", "--max-semi-space-size=32", buildMain(folder), "serve"];
  const child = spawn(process.execPath, words, {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, ...environment, SLUICE_PORT: String(port), SLUICE_LOG_LEVEL: "error" },
    stdio: "ignore",
  });
  process.once("exit", () => child.kill());
  await waitUntil(
    "a gateway",
    () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    60_000,
  );
  return {
    port,
    async stop(): Promise<void> {
      child.kill("SIGTERM");
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}

/** An account with money and without limits, and a model with an instant upstream. */
async function prepare(
  folder: string,
  {
    environment,
    dataDir,
    upstreamPort,
  }: { environment: Record<string, string>; dataDir: string; upstreamPort: number },
): Promise<Record<string, string>> {
  const run = async <T>(...words: string[]): Promise<T> => {
    const env = { PATH: process.env.PATH, ...environment };
    const { stdout } = await promisify(execFile)(process.execPath, [buildMain(folder), ...words, "--json"], {
      env,
      cwd: tmpdir(),
    });
    return JSON.parse(stdout) as T;
  };
  const { id } = await run<{ id: string }>("account", "create", "--email", "queue@example.com", "--credit", "9000000");
  const limits = ["requests-per-minute", "tokens-per-minute", "concurrent-requests", "tasks-in-flight"];
  await run("account", "update", id, ...limits.flatMap((name) => [`--${name}`, "1000000000"]));
  const { key } = await run<{ key: string }>("key", "create", "--account", id);
  const file = join(dataDir, "catalog.yaml");
  const base_url = `http://127.0.0.1:${upstreamPort}/v1`;
  writeFileSync(
    file,
    stringify({
      currency: "USD",
      providers: [{ id: "instant", kind: "openai-compatible", base_url, api_keys: ["${BENCH_UPSTREAM_KEY}"] }],
      models: [
        {
          ...{ id: "instant", name: "instant", type: "image", capabilities: ["text_to_image"] },
          limits: { sizes: ["64x64"], max_n: 1, max_prompt_length: 100 },
          routes: [{ provider: "instant", upstream_model: "bench/model" }],
        },
      ],
      prices: [{ model: "instant", billing_type: "per_call", unit: "image", price: "0.00002" }],
    }),
  );
  await run("catalog", "apply", file);
  return { authorization: `Bearer ${key}`, "content-type": "application/json" };
}

let submissions = 0;

async function submit({ pools, headers }: Cluster, prompt: string): Promise<void> {
  submissions += 1;
  const pool = pools[submissions % pools.length];
  const body = JSON.stringify({ model: "instant", prompt });
  const answer = await pool?.request({
    ...{ method: "POST", path: "/v1/images/generations", body },
    headers: { ...headers, "idempotency-key": `queue-${submissions}` },
  });
  const text = await answer?.body.text();
  if (answer?.statusCode !== 202) throw new Error(`A submission was answered with ${answer?.statusCode}: ${text}`);
}

/** By the name that an older checkout may know; here it is a view. */
async function countOpen({ client }: Cluster): Promise<number> {
  return Number((await client.query("select count(*) from task_leases")).rows[0]?.count);
}

/** One task at a time, so that only its own wake-up is measured. */
async function measureStarts(cluster: Cluster, { arrivals }: MediaUpstream, round: number): Promise<number[]> {
  const startMs: number[] = [];
  for (let index = 0; index < loneTasks; index += 1) {
    const prompt = `lone ${submissions} ${round} ${index}`;
    await submit(cluster, prompt);
    const answeredAt = performance.now();
    await waitUntil("the task at the upstream", () => arrivals.has(prompt));
    startMs.push(Math.max(0, (arrivals.get(prompt) ?? 0) - answeredAt));
  }
  await waitUntil("all tasks", async () => (await countOpen(cluster)) === 0, 60_000);
  return startMs;
}

async function measureCrowd(cluster: Cluster) {
  const startedAt = performance.now();
  let count = 0;
  const send = async (): Promise<void> => {
    while (performance.now() - startedAt < roundMs) await submit(cluster, `crowd ${count++}`);
  };
  const sending = Promise.all(Array.from({ length: callers }, send));
  await wait(roundMs / 2);
  const connections = await countConnections(cluster);
  await sending;
  const rate = (count / (performance.now() - startedAt)) * 1000;
  await waitUntil("all tasks", async () => (await countOpen(cluster)) === 0, 120_000);
  return { rate, doneRate: (count / (performance.now() - startedAt)) * 1000, connections };
}

async function countConnections({ client }: Cluster): Promise<number> {
  const { rows } = await client.query(
    "select count(*) from pg_stat_activity where datname = current_database() and application_name <> 'bench'",
  );
  return Number(rows[0]?.count);
}

/** The database's load without callers. */
async function measureIdle({ client }: Cluster): Promise<number> {
  const read = async (): Promise<number> =>
    Number(
      (
        await client.query(
          "select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()",
        )
      ).rows[0]?.count,
    );
  // Sessions publish their statistics after at most a second.
  await wait(2_000);
  const before = await read();
  await wait(idleMs);
  return ((await read()) - before) / (idleMs / 1000);
}
