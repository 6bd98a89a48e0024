// Installs missing packages and builds server and site before anything else runs. Takes about 60 ms if nothing is missing.
// This is the only file that the machine's own Node may run, so it is plain JavaScript for Node 18 and later;
// everything after it runs on the Node that the lock file pins.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { builds, isBuilt } from "./builds.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modulesDir = join(root, "node_modules");
const stampPath = join(modulesDir, ".installed-for");
const lockText = readFileSync(join(root, "package-lock.json"), "utf8");
const stamp = createHash("sha256").update(`${lockText}\n${process.platform}-${process.arch}`).digest("hex");

if (!existsSync(stampPath) || readFileSync(stampPath, "utf8") !== stamp) install();
if (!isBuilt(builds.server) && !build(builds.server)) {
  console.error("Cannot build the server. The message above says why.");
  process.exit(1);
}
if (!isBuilt(builds.web) && !build(builds.web)) {
  console.error("Cannot build the site. Everything else works without it.");
}

function install() {
  console.error("Installing Sluice's packages (once, about a minute) …");
  const startedAt = Date.now();
  runNpmCi(process.execPath);
  // npm leaves out optional packages whose `engines` exclude the Node that runs npm. The pinned Node is there now,
  // so a second run with it installs the packages that the older Node skipped.
  if (listMissingPackages().length > 0) runNpmCi(join(modulesDir, ".bin", "node"));
  const missing = listMissingPackages();
  if (missing.length > 0) {
    fail(`These packages are missing for ${process.platform}-${process.arch}: ${missing.join(", ")}.`);
  }
  writeFileSync(stampPath, stamp);
  console.error(`Installed in ${Math.round((Date.now() - startedAt) / 1000)} s.`);
}

/** The pinned Node builds from the sources. */
function build({ script }) {
  const node = join(modulesDir, ".bin", "node");
  const { status } = spawnSync(node, [script], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  return status === 0;
}

function runNpmCi(node) {
  // Use the npm that runs this file, else the one on the PATH.
  const npm = process.env.npm_execpath;
  const flags = ["ci", "--loglevel=error", "--no-audit", "--no-fund", "--include=dev", "--include=optional"];
  const result =
    npm === undefined
      ? spawnSync("npm", flags, { cwd: root, stdio: ["ignore", "ignore", "inherit"] })
      : spawnSync(node, [npm, ...flags], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  if (result.status !== 0) fail("npm could not install the packages; its message is above.");
}

/** Platform packages, such as the runtime and PostgreSQL, that the lock file lists but are not installed. */
function listMissingPackages() {
  const libc = detectLibc();
  return Object.entries(JSON.parse(lockText).packages)
    .filter(([path, entry]) => path !== "" && entry.cpu !== undefined && isForThisMachine(entry, libc))
    .filter(([path]) => !existsSync(join(root, path, "package.json")))
    .map(([path]) => path.replace(/^node_modules\//, ""));
}

/** The lock file contains a list or, for some packages, a string. */
function isForThisMachine({ os = process.platform, cpu, libc }, ownLibc) {
  return (
    [os].flat().includes(process.platform) &&
    [cpu].flat().includes(process.arch) &&
    (libc === undefined || [libc].flat().includes(ownLibc))
  );
}

function detectLibc() {
  // Otherwise the report does reverse DNS lookups first.
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime === undefined ? "musl" : "glibc";
}

function fail(sentence) {
  console.error(`\nSluice is not installed. ${sentence}`);
  console.error("Check the network, the registry that npm uses and the free disk space, then run the command again.");
  process.exit(1);
}
