// What is built from the sources, and whether each build matches them. Plain JavaScript, because the system's Node runs
// it.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Each build: its folder, its script, and the folders and other scripts that it reads. */
export const builds = {
  server: describeBuild("server", ["src", "packages/sandbox/src"], []),
  web: describeBuild("web", ["web", "docs/api", "docs/media"], ["list-site-pages.ts", "prerender-site.ts"]),
};

function describeBuild(name, folders, otherScripts) {
  const dir = join(root, "dist", name);
  const script = join(root, "scripts", `build-${name}.ts`);
  const scripts = [script, ...otherScripts.map((other) => join(root, "scripts", other))];
  return { dir, script, stampPath: join(dir, ".built-from"), folders, scripts };
}

/** Hashes everything that a build reads: sources, package versions and scripts. */
export function computeStamp({ folders, scripts }) {
  const hash = createHash("sha256");
  for (const path of [...folders.flatMap(listFiles).sort(), join(root, "package-lock.json"), ...scripts]) {
    hash
      .update(`${path.slice(root.length)}\0`)
      .update(readFileSync(path))
      .update("\0");
  }
  return hash.digest("hex");
}

function listFiles(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

export function isBuilt(build) {
  return existsSync(build.stampPath) && readFileSync(build.stampPath, "utf8") === computeStamp(build);
}
