import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Each takes from half a minute to a minute. Started last, they would run alone at the end. */
const longest = [
  "console-walk.test.ts",
  "consent-page.test.ts",
  "embedded-database.test.ts",
  "clean-clone.test.ts",
  "silent-database.test.ts",
  "operating-docs.test.ts",
  "task-crash.test.ts",
  "crash-loop.test.ts",
  "chat-crash.test.ts",
  "drama-stages.test.ts",
  "console-tasks.test.ts",
  "task-worker.test.ts",
  "task-routing.test.ts",
  "command-line.test.ts",
  "external-database.test.ts",
  "processes.test.ts",
  "drama-crowd.test.ts",
  "drama-faults.test.ts",
  "drama-crash.test.ts",
  "drama-sandbox.test.ts",
  "studio-films.test.ts",
  "planted-bugs.test.ts",
  "openai-images.test.ts",
  "openapi-fuzz.test.ts",
  "sign-in-timing.test.ts",
];

/** Its longest file takes two minutes and little processor time: started last, it would run alone. */
const firstProject = "invariants";

/**
 * The order of a first run, for which the runner only knows the file sizes. The runner sorts by project, because each
 * needs new workers; the last project, the units, has no long file.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean => longest.some((name) => moduleId.endsWith(`/${name}`));
    const byProject = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    const groups = [...byProject].toSorted(([one], [other]) => rank(one) - rank(other));
    return groups.flatMap(([, group]) => [...group.filter(isLong), ...group.filter((file) => !isLong(file))]);
  }
}

function rank(project: string): number {
  return project === firstProject ? 0 : 1;
}
