import type { Reporter, TestModule } from "vitest/node";

/** Ends the run with one plain line, and with `TEST_SKIPS=forbidden` makes every skipped test a failure. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string): number => tests.filter((test) => test.result().state === state).length;
    const skipped = tests.filter((test) => test.result().state === "skipped");
    console.log(`tests: ${count("passed")} passed, ${count("failed")} failed, ${skipped.length} skipped`);
    if (count("failed") > 0) console.log(`what was random followed from TEST_SEED=${process.env.TEST_SEED}`);
    if (skipped.length > 0 && process.env.TEST_SKIPS === "forbidden") {
      for (const test of skipped) console.error(`skipped, which is forbidden here: ${test.fullName}`);
      process.exitCode = 1;
    }
  }
}
