import { randomBytes } from "node:crypto";
import { stringify } from "yaml";
import { applyCatalog } from "../../../src/features/catalog/index.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { createIdSource } from "../../../src/lib/ids.ts";
import { createDatabase, type Database } from "../../../src/platform/database/database.ts";
import { createDataDirectory, findFreePort, type GatewayProcess, startGatewayProcess } from "../gateway-process.ts";
import { waitUntil } from "../wait-until.ts";
import { startLoadBalancer } from "./load-balancer.ts";
import { startPacedUpstream } from "./paced-upstream.ts";
import { createPaidCaller } from "./paid-caller.ts";
import { startPaidCalls } from "./paid-calls.ts";

type Rollout = {
  databaseUrl: string;
  redisUrl: string;
  /** Each pass stops and starts every gateway once; there are as many as it takes for so many calls. */
  callsMin: number;
  callers: number;
  /** Of the upstream, before each piece of an answer. */
  pauseMs: number;
  delayMs: number;
  nodes?: number;
};

export type RolloutOutcome = {
  calls: number;
  errors: string[];
  stops: number;
  exitCodes: number[];
  /** From a gateway's last request, or the end of its delay, to its end; the longest. */
  exitMsMax: number;
  slowestMs: number;
};

const upstreamKey = { ROLLOUT_UPSTREAM_KEY: "sk-rollout" };

/** Stops and starts real gateways one after another behind HAProxy while callers go on, and tells what these noticed. */
export async function rollGateways(rollout: Rollout): Promise<RolloutOutcome> {
  const { callsMin, callers, pauseMs, delayMs, nodes: nodeCount = 3 } = rollout;
  await using upstream = await startPacedUpstream(pauseMs);
  using data = createDataDirectory();
  const ports = await Promise.all(Array.from({ length: nodeCount }, () => findFreePort()));
  const start = (port: string): Promise<GatewayProcess> =>
    startGatewayProcess({
      environment: {
        ...{ DATABASE_URL: rollout.databaseUrl, SLUICE_REDIS_URL: rollout.redisUrl, SLUICE_DATA_DIR: data.path },
        ...{ SLUICE_PORT: port, SLUICE_SHUTDOWN_DELAY_MS: String(delayMs), ...upstreamKey },
      },
    });
  await using nodes = new AsyncDisposableStack();
  const running = await Promise.all(ports.map((port) => start(port)));
  nodes.defer(async () => void (await Promise.all(running.map((node) => node[Symbol.asyncDispose]()))));
  const key = await prepareDatabase(rollout.databaseUrl, upstream.url);
  await using balancer = await startLoadBalancer(ports.map(Number));
  const allAreUp = async (): Promise<boolean> => (await balancer.countUp()) === nodeCount;
  await waitUntil("every gateway to be sent requests", allAreUp);

  const calls = startPaidCalls({ path: balancer.path, key, callers });
  const stops: { exitCode: number | null; exitMs: number }[] = [];
  do {
    for (const [index, port] of ports.entries()) {
      const node = running[index];
      if (node !== undefined) stops.push(await stopNode(node, delayMs));
      running[index] = await start(port);
      await waitUntil("the gateway to be sent requests again", allAreUp);
    }
  } while (calls.count() < callsMin && calls.errors.length === 0);
  await calls.stop();
  return {
    calls: calls.count(),
    errors: calls.errors,
    stops: stops.length,
    exitCodes: stops.map(({ exitCode }) => exitCode ?? -1),
    exitMsMax: Math.max(...stops.map(({ exitMs }) => exitMs)),
    slowestMs: calls.slowestMs(),
  };
}

async function stopNode(node: GatewayProcess, delayMs: number): Promise<{ exitCode: number | null; exitMs: number }> {
  const toldAtMs = Date.now();
  node.kill("SIGTERM");
  const exitCode = await node.exited;
  const exitedAtMs = Date.now();
  const requests = [...node.output().matchAll(/"time":"([^"]+)"[^\n]*"msg":"request"/g)];
  const lastAtMs = Date.parse(requests.at(-1)?.[1] ?? "");
  return { exitCode, exitMs: exitedAtMs - Math.max(lastAtMs, toldAtMs + delayMs) };
}

/** Two models at the upstream, and an account with money; answers its key. */
async function prepareDatabase(url: string, upstreamUrl: string): Promise<string> {
  const database = createDatabase({
    address: { connectionString: url },
    connectionsMax: 1,
    onConnectionError: () => {},
  });
  try {
    await applyModels(database, upstreamUrl);
    return await createPaidCaller(database);
  } finally {
    await database.destroy();
  }
}

async function applyModels(database: Database, baseUrl: string): Promise<void> {
  const clock = systemClock;
  const routes = [{ provider: "paced", upstream_model: "paced" }];
  const catalog = {
    currency: "USD",
    providers: [{ id: "paced", kind: "openai-compatible", base_url: baseUrl, api_keys: ["${ROLLOUT_UPSTREAM_KEY}"] }],
    models: [
      {
        ...{ id: "chat", name: "Chat", type: "chat", capabilities: ["chat", "streaming"], routes },
        limits: { context_window: 8000, max_output_tokens: 100 },
      },
      {
        ...{ id: "voice", name: "Voice", type: "speech", capabilities: ["text_to_speech"], routes },
        limits: { voices: ["alloy"], response_formats: ["pcm"], max_prompt_length: 100 },
      },
    ],
    prices: [
      { model: "chat", billing_type: "token", unit: "1K tokens", input_price: "0.01", output_price: "0.01" },
      { model: "voice", billing_type: "per_call", unit: "1K characters", price: "0.01" },
    ],
  };
  const surroundings = {
    currency: "USD",
    planIds: new Set<string>(),
    accountIds: new Set<string>(),
    hasSecret: () => true,
  };
  const ids = createIdSource({ clock, randomBytes });
  const outcome = await applyCatalog({ database, clock, ids, surroundings }, stringify(catalog));
  if (outcome.kind === "refused") throw new Error(JSON.stringify(outcome.problems));
}
