import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [
      "src/**/*.test.ts",
      "test/**/*.test.ts",
      "scripts/**/*.test.ts",
      "packages/**/*.test.ts",
      "web/**/*.test.ts",
    ],
    globalSetup: ["test/harness/global-setup.ts"],
    reporters: ["default", "./test/harness/summary-reporter.ts"],
    // Tests wait for conditions, never for time: this is only the end of the world.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A child process that a test starts dies with the thread that started it, so tests run in processes.
    pool: "forks",
    // Much of the time is spent waiting for other processes, so that two cores can take three at a time.
    maxWorkers: 3,
  },
});
