import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Each takes from half a minute to a minute on an idle machine. Started last, they would run alone at the end. */
const longest = [
  "console-walk.test.ts",
  "embedded-database.test.ts",
  "clean-clone.test.ts",
  "silent-database.test.ts",
  "task-crash.test.ts",
  "console-tasks.test.ts",
  "task-worker.test.ts",
  "command-line.test.ts",
  "drama-crowd.test.ts",
  "drama-faults.test.ts",
  "drama-crash.test.ts",
  "drama-sandbox.test.ts",
  "studio-films.test.ts",
  "planted-bugs.test.ts",
  "sign-in-timing.test.ts",
];

/** The order of a first run, for which the runner only knows the file sizes. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => longest.some((name) => moduleId.endsWith(`/${name}`));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
