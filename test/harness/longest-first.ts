import { BaseSequencer, type TestSpecification } from "vitest/node";

/** They take half a minute to two minutes each, and are no long files. Begun last, they would go on alone while nothing is left to do beside them. */
const longest = [
  "drama-crowd.test.ts",
  "drama-sandbox.test.ts",
  "clean-clone.test.ts",
  "studio-films.test.ts",
  "embedded-database.test.ts",
  "command-line.test.ts",
  "planted-bugs.test.ts",
  "external-database.test.ts",
  "sign-in-timing.test.ts",
];

/** The order of a first run, for which the runner knows nothing but the files' sizes. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => longest.some((name) => moduleId.endsWith(`/${name}`));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
