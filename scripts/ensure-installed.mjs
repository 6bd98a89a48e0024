// Installs and builds what is missing before anything else runs, and does nothing (about 40 ms) when all is there.
// This is the only file that the machine's own Node may run, so it is plain JavaScript for Node 18 and later;
// everything after it runs on the Node that the lock file pins.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isWebBuilt } from "./web-stamp.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modulesDir = join(root, "node_modules");
const stampPath = join(modulesDir, ".installed-for");
const lockText = readFileSync(join(root, "package-lock.json"), "utf8");
const stamp = createHash("sha256").update(`${lockText}\n${process.platform}-${process.arch}`).digest("hex");

if (!existsSync(stampPath) || readFileSync(stampPath, "utf8") !== stamp) install();
if (!isWebBuilt()) buildWeb();

function install() {
  console.error("Installing Sluice's packages (once, about a minute) …");
  const startedAt = Date.now();
  runNpmCi(process.execPath);
  // npm leaves out optional packages whose `engines` exclude the Node that runs npm. The pinned Node is there now,
  // so a second round with it brings what the machine's older Node left out.
  if (listMissingPackages().length > 0) runNpmCi(join(modulesDir, ".bin", "node"));
  const missing = listMissingPackages();
  if (missing.length > 0) {
    fail(`These packages are missing for ${process.platform}-${process.arch}: ${missing.join(", ")}.`);
  }
  writeFileSync(stampPath, stamp);
  console.error(`Installed in ${Math.round((Date.now() - startedAt) / 1000)} s.`);
}

/** The pages of the site come as sources too; the pinned Node builds them. */
function buildWeb() {
  const node = join(modulesDir, ".bin", "node");
  const result = spawnSync(node, [join(root, "scripts", "build-web.ts")], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (result.status !== 0) console.error("The site's pages could not be built; everything else works without them.");
}

function runNpmCi(node) {
  // npm says where it is when it runs this file; without npm around us, the one on the PATH serves.
  const npm = process.env.npm_execpath;
  const flags = ["ci", "--loglevel=error", "--no-audit", "--no-fund", "--include=dev", "--include=optional"];
  const result =
    npm === undefined
      ? spawnSync("npm", flags, { cwd: root, stdio: ["ignore", "ignore", "inherit"] })
      : spawnSync(node, [npm, ...flags], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  if (result.status !== 0) fail("npm could not install the packages; its message is above.");
}

/** The platform's packages (the runtime and PostgreSQL among them) that the lock file lists and the disk lacks. */
function listMissingPackages() {
  const libc = detectLibc();
  return Object.entries(JSON.parse(lockText).packages)
    .filter(([path, entry]) => path !== "" && entry.cpu !== undefined && isForThisMachine(entry, libc))
    .filter(([path]) => !existsSync(join(root, path, "package.json")))
    .map(([path]) => path.replace(/^node_modules\//, ""));
}

/** The lock file writes each as a list or, for some packages, as a single word. */
function isForThisMachine({ os = process.platform, cpu, libc }, ownLibc) {
  return (
    [os].flat().includes(process.platform) &&
    [cpu].flat().includes(process.arch) &&
    (libc === undefined || [libc].flat().includes(ownLibc))
  );
}

function detectLibc() {
  // Without this the report would look up the names of all network neighbours first.
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime === undefined ? "musl" : "glibc";
}

function fail(sentence) {
  console.error(`\nSluice is not installed. ${sentence}`);
  console.error("Check the network, the registry that npm uses and the free disk space, then run the command again.");
  process.exit(1);
}
