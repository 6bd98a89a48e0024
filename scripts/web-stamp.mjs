// Checks whether the built site matches the sources. Plain JavaScript, because the system's Node runs it.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

export const builtWebDir = join(root, "dist", "web");
export const webStampPath = join(builtWebDir, ".built-from");

/** Hashes the build's inputs: the sources of site and guide, the package versions and the build script. */
export function computeWebStamp() {
  const sources = ["web", "docs/api", "docs/media"].flatMap(listFiles).sort();
  const hash = createHash("sha256");
  const builders = ["build-web", "list-site-pages", "prerender-site"].map((name) => join(root, `scripts/${name}.ts`));
  for (const path of [...sources, join(root, "package-lock.json"), ...builders]) {
    hash
      .update(`${path.slice(root.length)}\0`)
      .update(readFileSync(path))
      .update("\0");
  }
  return hash.digest("hex");
}

function listFiles(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

export function isWebBuilt() {
  return existsSync(webStampPath) && readFileSync(webStampPath, "utf8") === computeWebStamp();
}
