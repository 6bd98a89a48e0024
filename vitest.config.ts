import { randomInt } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/harness/longest-first.ts";

// Chance is the same in every process of a run, and in a run that is told the seed of another.
process.env.TEST_SEED ??= String(randomInt(2 ** 31));
const seed = process.env.TEST_SEED;

/**
 * Each file needs most of the gateway: a process loads it once for all files that it runs, and Node does so itself, as it
 * does for users, from what it compiled before.
 */
const wholeGateway = { isolate: false, experimental: { viteModuleRunner: false, nodeLoader: false } };

// A browser, a process or a decoder beside the test may be late on a busy machine. The summary names every retry.
const oneRetry = { retry: 1 };

const projects = [
  {
    name: "units",
    include: ["{src,packages,scripts,web}/**/*.test.ts"],
    // They share nothing but the modules, which take longer to load than most of them to run.
    isolate: false,
  },
  { name: "api", include: ["test/{api,repository,harness}/**/*.test.ts"], ...wholeGateway },
  { name: "flows", include: ["test/flows/**/*.test.ts"], ...wholeGateway, ...oneRetry },
  { name: "browser", include: ["test/browser/**/*.test.ts"], ...wholeGateway, ...oneRetry },
  { name: "invariants", include: ["test/invariants/**/*.test.ts"], ...wholeGateway },
];

/** What `npm test -- --shard` takes. */
export const shards: readonly string[] = projects.map(({ name }) => name);

export default defineConfig({
  test: {
    globalSetup: ["test/harness/global-setup.ts"],
    // The processes that tests start load much the same: they keep what was compiled where the gateway does.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache"), TEST_SEED: seed },
    setupFiles: ["test/harness/test-seed.ts", "test/harness/idle-process.ts"],
    reporters: ["default", "./test/harness/summary-reporter.ts"],
    // Tests wait for conditions, never for time: these are only the end of the world.
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // A child process that a test starts dies with the thread that started it, so tests run in processes.
    pool: "forks",
    // Most tests start processes of their own, so that three keep two cores busy. With five the same tests took as long and
    // a quarter more of the processor, and what waits for somebody waited longer than people would.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    projects: projects.map((test) => ({ extends: true as const, test })),
  },
});
