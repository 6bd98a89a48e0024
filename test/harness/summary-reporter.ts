import type { Reporter, TestModule, Vitest } from "vitest/node";

const flakyMax = 3;

/**
 * Ends the run with one line, names the tests that passed only at their second attempt, and fails if there are more
 * than a few. With `TEST_SKIPS=forbidden`, every skipped test is a failure, too.
 */
export default class SummaryReporter implements Reporter {
  #leftOut: readonly string[] = [];

  onInit({ config }: Vitest): void {
    this.#leftOut = (config.tagsFilter ?? [])
      .flatMap((filter) => [...filter.matchAll(/!(\w+)/g)])
      .map(([, tag = ""]) => tag);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string): number => tests.filter((test) => test.result().state === state).length;
    const left = tests.filter((test) => test.result().state === "skipped");
    const skipped = left.filter((test) => !this.#leftOut.some((tag) => test.tags.includes(tag)));
    if (left.length > skipped.length) {
      const kinds = this.#leftOut.join(" or ");
      console.log(`${left.length - skipped.length} ${kinds} tests were not run: npm test -- --whole runs them`);
    }
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

/** The stack frame inside the test itself. */
function findPlace(stack: string | undefined): string {
  return stack?.split("\n").find((line) => line.includes(".test.ts")) ?? "";
}
