import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { builtWebDir, isWebBuilt } from "../../scripts/web-stamp.mjs";
import { repositoryDir } from "../harness/repository-files.ts";

const scriptBytesMax = 120_000;
const assetsDir = join(builtWebDir, "assets");

beforeAll(() => {
  if (!isWebBuilt()) execFileSync(process.execPath, [join(repositoryDir, "scripts/build-web.ts")], { stdio: "ignore" });
});

test.for([
  ["the landing page", "landing-page"],
  ["the console", "overview-page"],
] as const)("%s needs at most 120 kB of compressed script before it can be used", ([, name]) => {
  const shell = readFileSync(join(builtWebDir, "index.html"), "utf8");
  const shellScripts = [...shell.matchAll(/\/assets\/([^"]+\.js)"/g)].map(([, script = ""]) => script);
  const page = readdirSync(assetsDir).find((file) => file.startsWith(`${name}-`) && file.endsWith(".js"));
  expect(page).toBeDefined();
  const scripts = followImports([...shellScripts, page ?? ""]);
  const bytes = [...scripts].reduce((sum, script) => sum + measureCompressed(join(assetsDir, script)), 0);
  expect(bytes).toBeLessThanOrEqual(scriptBytesMax);
});

test("what is for those who work on the pages is in no build", () => {
  expect(readdirSync(assetsDir).filter((file) => file.startsWith("design-page"))).toEqual([]);
});

/** The scripts and all that they cannot run without; what they load later is not among it. */
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

/** As browsers get it; small ones are sent as they are. */
function measureCompressed(path: string): number {
  return statSync(`${path}.br`, { throwIfNoEntry: false })?.size ?? statSync(path).size;
}
