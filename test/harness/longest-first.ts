import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { repositoryDir } from "./repository-files.ts";
import { shards } from "./shards.ts";

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
  "two-processes.test.ts",
  "verify-ledger.test.ts",
  "console-billing.test.ts",
  "admin-upstreams.test.ts",
  "console-playground.test.ts",
  "sign-in-pages.test.ts",
  "console-keys.test.ts",
  "generations.test.ts",
  "media-options.test.ts",
  "transcriptions.test.ts",
  "openai-images.test.ts",
  "openapi-fuzz.test.ts",
  "sign-in-timing.test.ts",
];

/**
 * The order of a first run, for which the runner only knows the file sizes. The runner sorts by project, because each
 * needs new workers.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean => longest.some((name) => moduleId.endsWith(`/${name}`));
    const byShard = Map.groupBy(await super.sort(files), findShard);
    const groups = [...byShard].toSorted(([one], [other]) => one - other).map(([, group]) => group);
    const byProject = Map.groupBy(groups.flat(), ({ project }) => project.name);
    return [...byProject.values()].flatMap((group) => [
      ...group.filter(isLong),
      ...group.filter((file) => !isLong(file)),
    ]);
  }
}

const orderedFolders = Object.values(shards);

function findShard({ moduleId }: TestSpecification): number {
  const path = relative(repositoryDir, moduleId);
  return orderedFolders.findIndex((folders) => folders.some((folder) => path.startsWith(folder)));
}
