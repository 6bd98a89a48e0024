import { randomInt } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/harness/longest-first.ts";
import { shards } from "./test/harness/shards.ts";

// All processes of a run share one seed. Set TEST_SEED to repeat a run.
process.env.TEST_SEED ??= String(randomInt(2 ** 31));
const seed = process.env.TEST_SEED;

/** Browsers and child processes may be slow on a busy machine. The summary lists every retry. */
const retriedShards: readonly string[] = ["flows", "browser"];

function listFiles(names: readonly string[]): string[] {
  return names.flatMap((name) => shards[name] ?? []).map((folder) => `${folder}**/*.test.ts`);
}

// Every project needs workers of its own, and each of these takes seconds to load the gateway: so there are only two.
const projects = [
  { name: "once", include: listFiles(Object.keys(shards).filter((name) => !retriedShards.includes(name))) },
  { name: "retried", include: listFiles(retriedShards), retry: 1 },
];

export default defineConfig({
  test: {
    globalSetup: ["test/harness/global-setup.ts"],
    // Child processes load the same modules, so they share the gateway's compile cache.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache"), TEST_SEED: seed },
    setupFiles: ["test/harness/test-seed.ts", "test/harness/idle-process.ts"],
    reporters: ["default", "./test/harness/summary-reporter.ts"],
    tags: [
      {
        name: "extended",
        description: "Covered more narrowly by a test of every run: `npm test -- --whole` runs it (decision 69).",
      },
      {
        name: "slow",
        description: "Takes over 2.5 s of processor time: `npm test -- --quick` leaves it out.",
      },
    ],
    // Tests wait for conditions, never for time: these timeouts are a last resort.
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // A child process that a test starts dies with the thread that started it, so tests run in processes.
    pool: "forks",
    // Most files need most of the gateway, so a process loads it once for all its files. Node loads it natively, as in
    // production, from its compile cache.
    isolate: false,
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // As in production: with room for short-lived objects, a run takes a twentieth less CPU time.
    execArgv: ["--min-semi-space-size=16", "--max-semi-space-size=32"],
    // Most tests wait for child processes and polls: four workers left a quarter of two cores idle, and eight take a
    // twelfth more processor time.
    maxWorkers: 6,
    sequence: { sequencer: LongestFirst },
    projects: projects.map((test) => ({ extends: true as const, test })),
  },
});
