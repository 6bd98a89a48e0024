import { existsSync } from "node:fs";
import { authenticateCaller } from "../src/features/accounts/index.ts";
import { findOfferedModel } from "../src/features/catalog/catalog-view.ts";
import { consumeLimits } from "../src/features/limits/index.ts";
import type { Caller } from "../src/lib/caller.ts";
import type { Counters } from "../src/platform/counters/counters.ts";
import { createMemoryCounters } from "../src/platform/counters/memory-counters.ts";
import { createRedisCounters } from "../src/platform/counters/redis-counters.ts";
import { startRedisServer } from "../test/harness/servers/redis-server.ts";
import { startBenchServer } from "./bench-server.ts";
import { findMedian, measureCpu } from "./measure-cpu.ts";
import { openBenchParts } from "./open-bench-parts.ts";

const admissionGoalUs = 20;
const modelListGoal = 1.5;

/**
 * The cost of a request before its route runs, the throughput of the limiters, and the model list beside a bare route.
 */
export async function measureEdge(): Promise<void> {
  await measureAdmission();
  await measureModelList();
}

async function measureAdmission(): Promise<void> {
  const parts = await openBenchParts();
  const counters = createMemoryCounters({ clock: parts.clock });
  const attempt = { address: "127.0.0.1", endpointScope: "models" };
  const authenticate = (): Promise<Caller> =>
    authenticateCaller(
      { callers: parts.callers, counters },
      { authorization: `Bearer ${parts.key}` },
      {
        ...attempt,
        now: parts.clock.now(),
      },
    );
  const admit = async (): Promise<void> => {
    const caller = await authenticate();
    await consumeLimits(counters, caller, { request: "write" });
    findOfferedModel(parts.catalog.current(), "house/model-250", caller, parts.clock.now());
  };
  const admissionUs = await measureCpu(admit, { runs: 50_000, rounds: 9 });
  print(
    "authentication + limits + catalog look-up",
    `${admissionUs.toFixed(1)} µs CPU`,
    admissionUs <= admissionGoalUs,
    `≤ ${admissionGoalUs} µs`,
  );
  const caller = await authenticate();
  await measureLimiter("limiter in memory", counters, caller, 1);
  if (existsSync("/usr/bin/redis-server")) {
    const redis = await startRedisServer();
    const shared = createRedisCounters({ url: redis.url, onTrouble: (error) => console.error(error) });
    await measureLimiter("limiter in Redis, 1 caller", shared, caller, 1);
    await measureLimiter("limiter in Redis, 64 callers", shared, caller, 64);
    await shared.close();
    await redis[Symbol.asyncDispose]();
  } else {
    console.log("limiter in Redis: not measured, redis-server is not installed");
  }
  await parts.close();
}

/** Checks per second with this many concurrent callers, over about two seconds. */
async function measureLimiter(name: string, counters: Counters, caller: Caller, callers: number): Promise<void> {
  await consumeLimits(counters, caller, { request: "write" });
  let checks = 0;
  const startedAt = performance.now();
  const work = async (): Promise<void> => {
    while (performance.now() - startedAt < 2000) {
      for (let run = 0; run < 20; run += 1) await consumeLimits(counters, caller, { request: "write" });
      checks += 20;
    }
  };
  await Promise.all(Array.from({ length: callers }, work));
  const perSecond = Math.round((checks / (performance.now() - startedAt)) * 1000);
  console.log(`${name.padEnd(44)} ${perSecond.toLocaleString("en")} checks/s`);
}

/** The two servers take turns, so that other load of the machine affects both. */
async function measureModelList(): Promise<void> {
  const gateway = await startBenchServer("models-server.ts");
  const bare = await startBenchServer("bare-server.ts");
  const gatewayUs: number[] = [];
  const bareUs: number[] = [];
  let bytes = 0;
  for (let round = 0; round < 9; round += 1) {
    const one = await gateway.measure(1000);
    const two = await bare.measure(1000);
    if (one.bytes !== two.bytes) throw new Error(`The answers differ: ${one.bytes} and ${two.bytes} bytes.`);
    bytes = one.bytes;
    // The first rounds are warm-up.
    if (round >= 2) {
      gatewayUs.push(one.cpuUs);
      bareUs.push(two.cpuUs);
    }
  }
  await gateway.close();
  await bare.close();
  const ratio = findMedian(gatewayUs) / findMedian(bareUs);
  const size = `${Math.round(bytes / 1024)} KB`;
  console.log(
    `GET /v1/models, 500 models, ${size}: gateway ${findMedian(gatewayUs).toFixed(0)} µs CPU, bare ${findMedian(bareUs).toFixed(0)} µs CPU`,
  );
  print("gateway beside the bare route", `${ratio.toFixed(2)} ×`, ratio <= modelListGoal, `≤ ${modelListGoal} ×`);
}

function print(name: string, figure: string, isMet: boolean, goal: string): void {
  console.log(`${name.padEnd(44)} ${figure}  (goal ${goal}: ${isMet ? "met" : "MISSED"})`);
  if (!isMet) process.exitCode = 1;
}
