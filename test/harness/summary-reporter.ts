import type { Reporter, TestModule } from "vitest/node";

const flakyMax = 3;

/**
 * Ends the run with one plain line, names the tests that passed at their second attempt only, and takes more than a few
 * of them for a failure. With `TEST_SKIPS=forbidden`, so is every skipped test.
 */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string): number => tests.filter((test) => test.result().state === state).length;
    const skipped = tests.filter((test) => test.result().state === "skipped");
    console.log(`tests: ${count("passed")} passed, ${count("failed")} failed, ${skipped.length} skipped`);
    if (count("failed") > 0) console.log(`what was random followed from TEST_SEED=${process.env.TEST_SEED}`);
    const flaky = tests.filter((test) => test.diagnostic()?.flaky === true);
    for (const test of flaky) {
      console.error(`flaky, passed at its second attempt only: ${test.fullName}`);
      for (const { message, stack } of test.result().errors ?? []) console.error(message, findPlace(stack));
    }
    if (flaky.length > flakyMax) process.exitCode = 1;
    if (skipped.length > 0 && process.env.TEST_SKIPS === "forbidden") {
      for (const test of skipped) console.error(`skipped, which is forbidden here: ${test.fullName}`);
      process.exitCode = 1;
    }
  }
}

/** Where a test itself stood, which is all that is worth a line. */
function findPlace(stack: string | undefined): string {
  return stack?.split("\n").find((line) => line.includes(".test.ts")) ?? "";
}
