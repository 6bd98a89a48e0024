import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { repositoryDir } from "../../harness/repository-files.ts";

const scripts = ["ensure-installed.mjs", "builds.mjs"];

type Lock = { lockfileVersion: number; packages: Record<string, object> };

/** A project with the real install script and one package, with the pinned Node, that npm installs from the folder itself. */
function createProject(): { folder: string; lock: Lock } {
  const folder = mkdtempSync(join(tmpdir(), "sluice-install-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of scripts) cpSync(join(repositoryDir, "scripts", name), join(folder, "scripts", name));
  for (const name of ["server", "web"]) writeBuild(folder, name, "");
  mkdirSync(join(folder, "valve"));
  const bin = { node: "node.sh" };
  writeFileSync(join(folder, "valve/node.sh"), `#!/bin/sh\nexec ${process.execPath} "$@"\n`, { mode: 0o755 });
  writeFileSync(join(folder, "valve/package.json"), JSON.stringify({ name: "valve", version: "1.0.0", bin }));
  const dependencies = { valve: "file:valve" };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "dam", dependencies }));
  const packages = {
    "": { name: "dam", dependencies },
    "node_modules/valve": { resolved: "valve", link: true },
    valve: { version: "1.0.0", bin },
  };
  return { folder, lock: { lockfileVersion: 3, packages } };
}

function writeBuild(folder: string, name: string, program: string): void {
  writeFileSync(join(folder, `scripts/build-${name}.ts`), program);
}

function ensureInstalled(folder: string, lock: Lock): { status: number | null; output: string } {
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify(lock));
  // The npm on the PATH, as in a terminal: not the one that started this run.
  const env = { PATH: process.env.PATH, HOME: folder };
  const words = [join(folder, "scripts/ensure-installed.mjs")];
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: folder, env, encoding: "utf8" });
  return { status, output: stderr };
}

test("packages are installed once per lock file", () => {
  const { folder, lock } = createProject();
  const first = ensureInstalled(folder, lock);
  expect(first.output).toMatch(/^Installing Sluice's packages .*\nInstalled in \d+ s\.\n/);
  expect(first.status).toBe(0);
  expect(existsSync(join(folder, "node_modules/valve/package.json"))).toBe(true);
  expect(ensureInstalled(folder, lock).output).not.toContain("Install");
  const changed = { ...lock, packages: { ...lock.packages, valve: { ...lock.packages.valve, license: "MIT" } } };
  expect(ensureInstalled(folder, changed).output).toMatch(/^Installing.*\nInstalled in/);
});

test("a failed install says what to check, and the next command tries again", () => {
  const { folder, lock } = createProject();
  const { valve: _, ...others } = lock.packages;
  const broken = { ...lock, packages: { ...others, "node_modules/valve": { version: "1.0.0" } } };
  const failed = ensureInstalled(folder, broken);
  expect(failed.status).toBe(1);
  expect(failed.output).toContain("Sluice is not installed. npm could not install the packages");
  expect(failed.output).toContain("Check the network");
  expect(ensureInstalled(folder, lock).output).toContain("Installed in");
});

test("a platform package that npm left out is named", () => {
  const { folder, lock } = createProject();
  const missing = { version: "1.0.0", optional: true, os: [process.platform], cpu: [process.arch] };
  const packages = { ...lock.packages, "node_modules/@embedded/pump": missing };
  const { status, output } = ensureInstalled(folder, { ...lock, packages });
  expect(status).toBe(1);
  expect(output).toMatch(/These packages are missing for \S+: @embedded\/pump\./);
});

test("without a server nothing starts; without the site everything else does", () => {
  const { folder, lock } = createProject();
  writeBuild(folder, "web", 'console.error("no pages"); process.exit(1);');
  const withoutSite = ensureInstalled(folder, lock);
  expect(withoutSite.status).toBe(0);
  expect(withoutSite.output).toMatch(/no pages\nCannot build the site\. Everything else works without it\.\n$/);
  writeBuild(folder, "server", 'console.error("no room"); process.exit(1);');
  const withoutServer = ensureInstalled(folder, lock);
  expect(withoutServer.status).toBe(1);
  expect(withoutServer.output).toMatch(/no room\nCannot build the server\. The message above says why\.\n$/);
});
