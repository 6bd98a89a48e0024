import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { findFreePort } from "../test/harness/gateway-process.ts";
import { waitUntil } from "../test/harness/wait-until.ts";
import { readPostmasterId } from "./process-figures.ts";

export type SluiceGateway = {
  port: number;
  processId: number;
  dataDir: string;
  /** `null` if the database is not the gateway's own. */
  databaseProcessId: number | null;
  /** The headers that authenticate a request. */
  headers: Record<string, string>;
  readFrozen(): Promise<string>;
  /** Another gateway with the same settings and the given changes: on the same database, unless that is embedded. */
  startBeside(
    settings?: Readonly<Record<string, string>>,
  ): Promise<{ port: number; processId: number; close(): Promise<void> }>;
  close(): Promise<void>;
};

/** A model of the bench, and its upstreams in order. Headers tell the upstreams how to answer. */
type BenchModel = {
  id: string;
  routes: readonly { port: number; headers?: Record<string, string>; native_wires?: readonly string[] }[];
};

const ownCheckout = join(import.meta.dirname, "..");
const limitMax = "1000000000";
const waitsMsMax = 3_600_000;

/**
 * Sluice as users start it, with everything on: an embedded database that syncs to disk, a log that is written out, an
 * account with money and with the highest limits.
 */
export async function startSluice(
  models: readonly BenchModel[] | { catalog: object },
  {
    checkoutDir = ownCheckout,
    nodeWords = [],
    settings: given = {},
  }: {
    nodeWords?: readonly string[];
    settings?: Readonly<Record<string, string>>;
    /** Another installed checkout of Sluice, whose gateway is started instead of this one's. */
    checkoutDir?: string | undefined;
  } = {},
): Promise<SluiceGateway> {
  const mainFile = buildMain(checkoutDir);
  const settings = { ...describeNode(checkoutDir), ...given };
  const { port, processId, dataDir, environment, close } = await startNode(mainFile, { nodeWords, settings });
  const siteUrl = `http://127.0.0.1:${port}`;
  const command = createCommand(mainFile, environment);
  const key = await createCaller(command);
  const catalog = "catalog" in models ? models.catalog : describeCatalog(models);
  const catalogFile = join(dataDir, "bench-catalog.yaml");
  writeFileSync(catalogFile, stringify(catalog));
  await command("catalog", "apply", catalogFile);
  const headers = { authorization: `Bearer ${key}` };
  return {
    port,
    processId,
    dataDir,
    databaseProcessId: given.SLUICE_DATABASE_URL === undefined ? readPostmasterId(dataDir) : null,
    headers,
    startBeside: (changes) => startNode(mainFile, { nodeWords, settings: { ...settings, ...changes } }),
    async readFrozen() {
      const answer = await fetch(`${siteUrl}/v1/balance`, { headers });
      const { frozen_balance: frozen } = (await answer.json()) as { frozen_balance: string };
      return frozen;
    },
    close,
  };
}

/** The file that the checkout's `npm start` runs. Older checkouts run their sources. */
export function buildMain(checkoutDir: string): string {
  const script = join(checkoutDir, "scripts/build-server.ts");
  if (!existsSync(script)) return join(checkoutDir, "src/main.ts");
  execFileSync(process.execPath, [script], { cwd: checkoutDir, stdio: ["ignore", "ignore", "inherit"] });
  return join(checkoutDir, "dist/server/main.js");
}

type NodeOptions = { nodeWords: readonly string[]; settings: Readonly<Record<string, string>> };

/** A single gateway process, with the accounts of its database only. */
async function startNode(mainFile: string, { nodeWords, settings }: NodeOptions) {
  const dataDir = mkdtempSync(join(tmpdir(), "sluice-bench-"));
  const port = Number(await findFreePort());
  const environment = {
    SLUICE_DATA_DIR: dataDir,
    SLUICE_PORT: String(port),
    SLUICE_LOG_FORMAT: "json",
    BENCH_UPSTREAM_KEY: "sk-bench",
    ...settings,
  };
  const { child, stop } = spawnGateway(mainFile, environment, nodeWords);
  await waitUntil("Sluice is ready", () => isReady(child, `http://127.0.0.1:${port}`), 60_000);
  return {
    ...{ port, processId: child.pid ?? 0, dataDir, environment },
    async close() {
      await stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * One process, whatever the machine has, and other gateways beside it. Older checkouts ignore both settings, and do so
 * anyway.
 */
export function describeNode(checkoutDir: string): Record<string, string> {
  const isOld = !existsSync(join(checkoutDir, "src/app/processes"));
  return isOld ? {} : { SLUICE_PROCESSES: "1", SLUICE_UNSHARED_NODES: "allow" };
}

/** Its log goes through a pipe to a reading process, as under a supervisor. */
function spawnGateway(mainFile: string, environment: Record<string, string>, nodeWords: readonly string[]) {
  const sink = spawn("cat", { stdio: ["pipe", "ignore", "inherit"] });
  // As `npm start` does it.
  const child = spawn(
    process.execPath,
    ["--min-semi-space-size=8", "--max-semi-space-size=32", ...nodeWords, mainFile, "serve"],
    {
      cwd: tmpdir(),
      env: { PATH: process.env.PATH, NODE_OPTIONS: process.env.NODE_OPTIONS, ...environment },
      stdio: ["ignore", sink.stdin, "ignore"],
    },
  );
  sink.stdin.destroy();
  process.once("exit", () => child.kill());
  return {
    child,
    async stop(): Promise<void> {
      if (child.exitCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

async function isReady(child: ChildProcess, siteUrl: string): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`Sluice ended with ${child.exitCode}.`);
  try {
    return (await fetch(`${siteUrl}/readyz`)).ok;
  } catch {
    // It does not listen yet.
    return false;
  }
}

async function createCaller(command: RunCommand): Promise<string> {
  const words = ["account", "create", "--email", "bench@example.com", "--credit", "9000000"];
  const account = (await command(...words)) as { id: string };
  const limits = ["requests-per-minute", "tokens-per-minute", "concurrent-requests", "tasks-in-flight"];
  await command("account", "update", account.id, ...limits.flatMap((name) => [`--${name}`, limitMax]));
  const { key } = (await command("key", "create", "--account", account.id)) as { key: string };
  return key;
}

function describeCatalog(models: readonly BenchModel[]): object {
  const timeouts = { first_byte_ms: waitsMsMax, idle_ms: waitsMsMax, total_ms: waitsMsMax };
  return {
    currency: "USD",
    providers: models.flatMap(({ id, routes }) =>
      routes.map(({ port, headers, native_wires: wires }, priority) => ({
        id: `${id}-${priority}`,
        kind: "openai-compatible",
        base_url: `http://127.0.0.1:${port}/v1`,
        api_keys: ["${BENCH_UPSTREAM_KEY}"],
        connections_max: 100_000,
        timeouts,
        ...(headers === undefined ? {} : { headers }),
        ...(wires === undefined ? {} : { native_wires: wires }),
      })),
    ),
    models: models.map(({ id, routes }) => ({
      id,
      name: id,
      type: "chat",
      capabilities: ["chat", "streaming", "tools"],
      limits: { context_window: 128_000, max_output_tokens: 16_384 },
      routes: routes.map((_, priority) => ({ provider: `${id}-${priority}`, upstream_model: "bench-model", priority })),
    })),
    prices: models.map(({ id }) => ({
      model: id,
      billing_type: "token",
      unit: "1K tokens",
      input_price: "0.00015",
      output_price: "0.0006",
    })),
  };
}

type RunCommand = (...words: readonly string[]) => Promise<unknown>;

/** The operator's command line of the same checkout. */
function createCommand(mainFile: string, environment: Record<string, string>): RunCommand {
  const run = promisify(execFile);
  const env = { PATH: process.env.PATH, ...environment };
  return async (...words) => {
    const { stdout } = await run(process.execPath, [mainFile, ...words, "--json"], { cwd: tmpdir(), env });
    return JSON.parse(stdout);
  };
}
