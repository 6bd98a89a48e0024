import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { builds, isBuilt } from "../../scripts/builds.mjs";
import { listSitePages } from "../../scripts/list-site-pages.ts";
import { repositoryDir } from "../harness/repository-files.ts";

const scriptBytesMax = 120_000;
const assetsDir = join(builds.web.dir, "assets");
const pages = listSitePages();

beforeAll(() => {
  if (!isBuilt(builds.web)) execFileSync(process.execPath, [builds.web.script], { stdio: "ignore" });
});

test("every page that the router loads lazily is measured", () => {
  const router = readFileSync(join(repositoryDir, "web/src/router.tsx"), "utf8");
  const loaded = [...router.matchAll(/lazyPage\(\(\) => import\("\.\/([^"]+)"\)/g)].map(
    ([, file = ""]) => `src/${file}`,
  );
  const measured = [...pages.flatMap(({ files }) => files), "src/pages/design/design-page.tsx"];
  expect(new Set(measured)).toEqual(new Set(loaded));
  expect(new Set(pages.map(({ path }) => path)).size).toBe(pages.length);
});

describe.each(pages)("$path", ({ path, files }) => {
  test("needs at most 120 kB of compressed script before it is usable", () => {
    const scripts = followImports([...listShellScripts(), ...files.map(findScript)]);
    const bytes = [...scripts].reduce((sum, script) => sum + measureCompressed(join(assetsDir, script)), 0);
    expect(bytes).toBeLessThanOrEqual(scriptBytesMax);
  });

  test("has a document that references all of it", () => {
    const { pages: documents } = JSON.parse(readFileSync(join(builds.web.dir, "pages.json"), "utf8"));
    const named = `${documents[path].links}${readShell()}`;
    for (const script of followImports(files.map(findScript))) expect(named).toContain(`/assets/${script}"`);
  });
});

test("development-only code is in no build", () => {
  expect(readdirSync(assetsDir).filter((file) => file.startsWith("design-page"))).toEqual([]);
});

function readShell(): string {
  return readFileSync(join(builds.web.dir, "index.html"), "utf8");
}

function listShellScripts(): string[] {
  return [...readShell().matchAll(/\/assets\/([^"]+\.js)"/g)].map(([, script = ""]) => script);
}

function findScript(file: string): string {
  const manifest = JSON.parse(readFileSync(join(builds.web.dir, "manifest.json"), "utf8"));
  return manifest[file].file.replace("assets/", "");
}

/** The scripts and their static imports, without lazy imports. */
function followImports(scripts: readonly string[], found = new Set<string>()): ReadonlySet<string> {
  for (const script of scripts) {
    if (found.has(script)) continue;
    found.add(script);
    const source = readFileSync(join(assetsDir, script), "utf8");
    const needed = [...source.matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g)].map(([, name = ""]) => name);
    followImports(needed, found);
  }
  return found;
}

/** Compressed as browsers get it; small files are sent uncompressed. */
function measureCompressed(path: string): number {
  return statSync(`${path}.br`, { throwIfNoEntry: false })?.size ?? statSync(path).size;
}
