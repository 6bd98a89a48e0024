import { createDataDirectory, findFreePort, type GatewayProcess, startGatewayProcess } from "../gateway-process.ts";
import { waitUntil } from "../wait-until.ts";
import { furnishForPaidCalls, upstreamKey } from "./furnish-for-paid-calls.ts";
import { startLoadBalancer } from "./load-balancer.ts";
import { startPacedUpstream } from "./paced-upstream.ts";
import { startPaidCalls } from "./paid-calls.ts";

type Rollout = {
  databaseUrl: string;
  redisUrl: string;
  /** Each pass restarts every gateway once; passes repeat until there were this many calls. */
  callsMin: number;
  callers: number;
  /** The upstream's pause before each piece of an answer. */
  pauseMs: number;
  delayMs: number;
  nodes?: number;
};

export type RolloutOutcome = {
  calls: number;
  errors: string[];
  stops: number;
  exitCodes: number[];
  /** The longest time from a gateway's last request, or the end of its delay, to its exit. */
  exitMsMax: number;
  slowestMs: number;
};

/** Restarts real gateways one after another behind HAProxy under load, and returns what the callers noticed. */
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
  const key = await furnishForPaidCalls(rollout.databaseUrl, upstream.url);
  await using balancer = await startLoadBalancer(ports.map(Number));
  const allAreUp = async (): Promise<boolean> => (await balancer.countUp()) === nodeCount;
  await waitUntil("every gateway to be sent requests", allAreUp);

  const calls = startPaidCalls({ address: { socketPath: balancer.path }, key, callers });
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
