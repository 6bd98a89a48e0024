import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { OperatorError } from "../../platform/errors/operator-error.ts";
import {
  interfaceMajor,
  interfacePackage,
  isPackageName,
  loadVendorEmbeddings,
  loadVendorModels,
  readInterfaceMajor,
  requirePackage,
} from "./load-package.ts";
import { isPlainObject } from "./read-json.ts";

/** Runs npm in a folder and returns its output. */
export type RunNpm = (words: readonly string[], folder: string) => Promise<string>;

const manifestName = "package.json";
const lockName = "package-lock.json";
const tarballFolder = "tarballs";
/** No package code runs before Sluice loads it, and npm installs exactly what the lock file names. */
const installWords = ["install", "--save-exact", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund"];

/**
 * Installs an AI SDK provider package into its own folder with its own lock file. Atomic: it is installed and tested
 * beside the folder, which is then replaced.
 */
export async function installPackage({
  spec,
  folder,
  runNpm,
}: {
  /** A name, a name with an exact version, or the path of a tarball. */
  spec: string;
  folder: string;
  runNpm: RunNpm;
}): Promise<{ packageName: string; version: string }> {
  const wanted = parseSpec(spec);
  const staging = openStaging(folder);
  try {
    const lockBefore = readText(join(folder, lockName));
    const packageName = await installInto(staging, wanted, runNpm);
    const place = { packageName, packagesFolder: staging };
    requirePackage(place);
    await requireModels(place);
    if (readText(join(folder, lockName)) !== lockBefore) {
      throw new OperatorError("Another package was installed meanwhile.", "Install this one again.");
    }
    replaceFolder(folder, staging);
    return { packageName, version: readVersion(join(folder, "node_modules", packageName)) };
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** Without a version: the newest that fits. */
type Wanted = { kind: "registry"; packageName: string; version?: string } | { kind: "tarball"; path: string };

function parseSpec(spec: string): Wanted {
  if (spec.endsWith(".tgz")) {
    const path = resolve(spec);
    if (!existsSync(path)) throw new OperatorError(`There is no file ${spec}.`, "Check its path.");
    return { kind: "tarball", path };
  }
  const [, packageName = "", version] = /^(@?[^@]+)(?:@(\d+\.\d+\.\d+[0-9A-Za-z.+-]*))?$/.exec(spec) ?? [];
  if (!isPackageName(packageName)) {
    const remedy = "Name one as npm does (@ai-sdk/mistral), with an exact version if you want one, or a .tgz file.";
    throw new OperatorError(`"${spec}" is not a package name or .tgz file.`, remedy);
  }
  return { kind: "registry", packageName, ...(version === undefined ? {} : { version }) };
}

async function findVersion(
  packageName: string,
  askNpm: (words: readonly string[]) => Promise<string>,
): Promise<string> {
  const fields = ["version", "dependencies", "peerDependencies"];
  return chooseVersion(packageName, await askNpm(["view", `${packageName}@*`, ...fields, "--json"]));
}

/** The newest version made for our version of the interface. npm lists versions oldest first. */
function chooseVersion(packageName: string, printed: string): string {
  const parsed: unknown = JSON.parse(printed === "" ? "[]" : printed);
  const versions = (Array.isArray(parsed) ? parsed : [parsed]).filter(isPlainObject);
  const fitting = versions.findLast((manifest) => readInterfaceMajor(manifest) === interfaceMajor)?.version;
  if (typeof fitting === "string") return fitting;
  throw new OperatorError(
    `No version of ${packageName} is made for version ${interfaceMajor} of ${interfacePackage}.`,
    `If it fits all the same, name the version: upstream install ${packageName}@<version>`,
  );
}

/** Beside the folder that will be replaced, so that relative paths work in both. */
function openStaging(folder: string): string {
  try {
    mkdirSync(dirname(resolve(folder)), { recursive: true, mode: 0o700 });
    const staging = mkdtempSync(`${resolve(folder)}.next-`);
    for (const name of [manifestName, lockName, tarballFolder]) {
      if (existsSync(join(folder, name))) cpSync(join(folder, name), join(staging, name), { recursive: true });
    }
    if (!existsSync(join(staging, manifestName))) {
      writeFileSync(join(staging, manifestName), `${JSON.stringify({ name: "sluice-packages", private: true })}\n`);
    }
    return staging;
  } catch (cause) {
    throw new OperatorError(
      `The folder ${folder} cannot be written.`,
      "Run this as the gateway's user. In a read-only image, install packages when you build it (docs/operating/upstreams.md).",
      { cause },
    );
  }
}

/** Returns the name of the package, which a tarball reveals only after it is unpacked. */
async function installInto(staging: string, wanted: Wanted, runNpm: RunNpm): Promise<string> {
  if (wanted.kind === "registry") {
    const { packageName } = wanted;
    const version = wanted.version ?? (await findVersion(packageName, (words) => runNpm(words, staging)));
    await runNpm([...installWords, `${packageName}@${version}`], staging);
    return packageName;
  }
  // Stored with the packages: a later install needs it again.
  const kept = join(tarballFolder, basename(wanted.path));
  mkdirSync(join(staging, tarballFolder), { recursive: true });
  copyFileSync(wanted.path, join(staging, kept));
  await runNpm([...installWords, `file:${kept}`], staging);
  const { dependencies } = readJson(join(staging, manifestName));
  const [packageName] =
    Object.entries(isPlainObject(dependencies) ? dependencies : {}).find(([, from]) => from === `file:${kept}`) ?? [];
  if (packageName !== undefined) return packageName;
  throw new OperatorError(`${wanted.path} is not an npm package.`, "Create one with npm pack.");
}

/** Loads the package and creates a model, as a call would. Sends no request. */
async function requireModels(place: { packageName: string; packagesFolder: string }): Promise<void> {
  const refuse = async (): Promise<Response> => {
    throw new Error("No request is sent while a package is tested.");
  };
  const settings = { name: "trial", apiKey: "trial", baseURL: "http://127.0.0.1:9", headers: {}, fetch: refuse };
  const attempts = [loadVendorModels, loadVendorEmbeddings].map(async (load) => (await load(place, settings))("trial"));
  const [chat, embedding] = await Promise.allSettled(attempts);
  if (chat?.status === "fulfilled" || embedding?.status === "fulfilled") return;
  // Other errors are about the settings of this trial.
  if (chat?.reason instanceof OperatorError) throw chat.reason;
}

/** A gateway that loads a package at this moment finds either the old folder or the new one. */
function replaceFolder(folder: string, staging: string): void {
  const old = `${resolve(folder)}.old`;
  rmSync(old, { recursive: true, force: true });
  if (existsSync(folder)) renameSync(folder, old);
  renameSync(staging, folder);
  rmSync(old, { recursive: true, force: true });
}

function readVersion(packageFolder: string): string {
  return String(readJson(join(packageFolder, manifestName)).version);
}

function readJson(path: string): Record<string, unknown> {
  const parsed: unknown = JSON.parse(readFileSync(path, "utf8"));
  return isPlainObject(parsed) ? parsed : {};
}

function readText(path: string): string | null {
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}
