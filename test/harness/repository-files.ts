import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

export const repositoryDir = join(import.meta.dirname, "../..");

/** The files that are, or would be, committed: no packages, no data, nothing else that git ignores. */
export function listRepositoryFiles(): string[] {
  return execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: repositoryDir,
    encoding: "utf8",
  })
    .split("\0")
    .filter((path) => path !== "" && existsSync(join(repositoryDir, path)))
    .toSorted();
}
