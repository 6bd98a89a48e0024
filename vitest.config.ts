import { randomInt } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/harness/longest-first.ts";

// All processes of a run share one seed. Set TEST_SEED to repeat a run.
process.env.TEST_SEED ??= String(randomInt(2 ** 31));
const seed = process.env.TEST_SEED;

/**
 * Each file needs most of the gateway, so a process loads it once for all its files. Node loads it natively, as in
 * production, from its compile cache.
 */
const wholeGateway = { isolate: false, experimental: { viteModuleRunner: false, nodeLoader: false } };

// Browsers and child processes may be slow on a busy machine. The summary lists every retry.
const oneRetry = { retry: 1 };

const projects = [
  {
    name: "units",
    include: ["{src,packages,scripts,web}/**/*.test.ts"],
    // These tests share only modules, which take longer to load than most tests to run.
    isolate: false,
  },
  { name: "api", include: ["test/{api,repository,harness}/**/*.test.ts"], ...wholeGateway },
  { name: "flows", include: ["test/flows/**/*.test.ts"], ...wholeGateway, ...oneRetry },
  { name: "browser", include: ["test/browser/**/*.test.ts"], ...wholeGateway, ...oneRetry },
  { name: "invariants", include: ["test/invariants/**/*.test.ts"], ...wholeGateway },
];

/** The values of `npm test -- --shard`. */
export const shards: readonly string[] = projects.map(({ name }) => name);

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
    ],
    // Tests wait for conditions, never for time: these timeouts are a last resort.
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // A child process that a test starts dies with the thread that started it, so tests run in processes.
    pool: "forks",
    // As in production: with room for short-lived objects, a run takes a twentieth less CPU time.
    execArgv: ["--min-semi-space-size=16", "--max-semi-space-size=32"],
    // Most tests wait for child processes and polls: four workers left a quarter of two cores idle.
    maxWorkers: 6,
    sequence: { sequencer: LongestFirst },
    projects: projects.map((test) => ({ extends: true as const, test })),
  },
});
