// Runs in separate processes, started by `startHammer`: takes one unit of one limit a given number of times, many at a
// time, and prints how often that passed.
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline/promises";
import { createRedisCounters } from "../../src/platform/counters/redis-counters.ts";
import { createTestClock } from "./test-clock.ts";

type Task = { url: string; key: string; perMinute: number; attempts: number };

const atOnce = 16;

export type Hammer = {
  /** Resolves when it is connected and waits for `begin`. */
  ready: Promise<void>;
  begin(): void;
  passed: Promise<number>;
};

export function startHammer(task: Task): Hammer {
  const child = spawn(process.execPath, [import.meta.filename, JSON.stringify(task)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = readLines(child);
  const ready = lines.next().then(({ value }) => {
    if (value !== "ready") throw new Error(`A hammer is not ready: ${value}`);
  });
  return {
    ready,
    begin: () => child.stdin?.end("begin\n"),
    passed: ready.then(() => lines.next()).then(({ value }) => Number(value)),
  };
}

function readLines(child: ChildProcess): AsyncIterator<string> {
  if (child.stdout === null) throw new Error("A hammer says nothing.");
  return createInterface({ input: child.stdout })[Symbol.asyncIterator]();
}

async function hammer({ url, key, perMinute, attempts }: Task): Promise<void> {
  // All use the same frozen time, so that nothing refills while they run.
  const counters = createRedisCounters({ url, clock: createTestClock(), timeoutMs: 30_000, onTrouble: console.error });
  await counters.take({ rates: [{ key, perMinute, cost: 0 }], leases: [] });
  console.log("ready");
  for await (const _ of createInterface({ input: process.stdin })) break;

  let attempted = 0;
  let passed = 0;
  async function takeInTurn(): Promise<void> {
    while (attempted < attempts) {
      attempted += 1;
      const { isAllowed } = await counters.take({ rates: [{ key, perMinute, cost: 1 }], leases: [] });
      if (isAllowed) passed += 1;
    }
  }
  await Promise.all(Array.from({ length: atOnce }, takeInTurn));
  console.log(passed);
  await counters.close();
}

if (import.meta.main) await hammer(JSON.parse(process.argv[2] ?? "{}"));
