import { readFileSync } from "node:fs";
import { createRequire, findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { EmbeddingModelV4, LanguageModelV4 } from "@ai-sdk/provider";
import { OperatorError } from "../../platform/errors/operator-error.ts";
import { isPlainObject } from "./read-json.ts";

/** A package name and the folder that `upstream install` uses; `null`: only Sluice's own packages. */
export type PackagePlace = { packageName: string; packagesFolder: string | null };

/** Why a package cannot be used. */
export type PackageFault = { code: "missing-package" | "unfit-package"; message: string; remedy: string };

/** Creates a model by its name. */
export type VendorModels = (upstreamModel: string) => LanguageModelV4;

/** Neither a path nor a URL: only installed packages can be named. */
const packageNamePattern = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/;
const spokenVersion = "v4";
/** The package that defines the interface, and the major version that Sluice uses. */
export const interfacePackage = "@ai-sdk/provider";
export const interfaceMajor = 4;

export function isPackageName(text: string): boolean {
  return packageNamePattern.test(text);
}

/** Whether a package is installed and made for our version of the interface, by its manifest. Loads nothing. */
export function findPackageFault(place: PackagePlace): PackageFault | null {
  const { packageName } = place;
  const remedy = `Install the version that fits: npm run -s sluice -- upstream install ${packageName}`;
  if (!isPackageName(packageName)) {
    const message = `"${packageName}" is not a package name.`;
    return { code: "missing-package", message, remedy: "Name one as npm does: @ai-sdk/mistral." };
  }
  const found = findInstalled(place);
  if (found === null) {
    return { code: "missing-package", message: `The package ${packageName} is not installed.`, remedy };
  }
  const major = readInterfaceMajor(found.manifest);
  if (major === null || major === interfaceMajor) return null;
  const message = `The package ${packageName} ${String(found.manifest.version)} is made for version ${major} of ${interfacePackage}, not ${interfaceMajor}.`;
  return { code: "unfit-package", message, remedy };
}

/** The major version of the interface that a package depends on; `null` if it does not declare one. */
export function readInterfaceMajor(manifest: Record<string, unknown>): number | null {
  for (const name of ["dependencies", "peerDependencies"]) {
    const dependencies = manifest[name];
    const range = isPlainObject(dependencies) ? dependencies[interfacePackage] : undefined;
    const major = typeof range === "string" ? /\d+/.exec(range)?.[0] : undefined;
    if (major !== undefined) return Number(major);
  }
  return null;
}

/** Throws if a package cannot be used. Loads nothing. */
export function requirePackage(place: PackagePlace): void {
  const fault = findPackageFault(place);
  if (fault !== null) throw new OperatorError(fault.message, fault.remedy);
}

type InstalledPackage = {
  /** The file that it was resolved from. */
  from: string;
  folder: string;
  manifest: Record<string, unknown>;
};

/** Packages installed for this deployment win over Sluice's own dependencies. */
function findInstalled({ packageName, packagesFolder }: PackagePlace): InstalledPackage | null {
  const places = [...(packagesFolder === null ? [] : [join(packagesFolder, "package.json")]), import.meta.filename];
  for (const from of places) {
    try {
      const path = findPackageJSON(packageName, pathToFileURL(from));
      if (path === undefined) continue;
      return { from, folder: dirname(path), manifest: JSON.parse(readFileSync(path, "utf8")) };
    } catch {
      // Node.js throws if there is no such package.
    }
  }
  return null;
}

/** Loads an AI SDK provider package and passes its settings. */
export async function loadVendorModels(place: PackagePlace, settings: Record<string, unknown>): Promise<VendorModels> {
  const { packageName } = place;
  const provider = await loadProvider(place, settings);
  const createModel = readMember(provider, "languageModel") ?? provider;
  return (upstreamModel) => requireModel<LanguageModelV4>(make(provider, createModel, upstreamModel), packageName);
}

/** The same for embedding models. */
export async function loadVendorEmbeddings(
  place: PackagePlace,
  settings: Record<string, unknown>,
): Promise<(upstreamModel: string) => EmbeddingModelV4> {
  const { packageName } = place;
  const provider = await loadProvider(place, settings);
  const createModel = readMember(provider, "embeddingModel") ?? readMember(provider, "textEmbeddingModel");
  return (upstreamModel) => requireModel<EmbeddingModelV4>(make(provider, createModel, upstreamModel), packageName);
}

async function loadProvider(place: PackagePlace, settings: Record<string, unknown>): Promise<unknown> {
  requirePackage(place);
  const loaded: Record<string, unknown> = await import(findEntry(place));
  return findFactory(loaded, place.packageName)(settings);
}

/** The URL of the package's entry file. */
function findEntry(place: PackagePlace): string {
  const installed = findInstalled(place);
  const { packageName } = place;
  if (installed === null) throw new OperatorError(`The package ${packageName} is not installed.`, "Install it again.");
  const { from, folder, manifest } = installed;
  const main = isPlainObject(manifest.exports) ? manifest.exports["."] : undefined;
  const imported = isPlainObject(main) ? main.import : undefined;
  const path = typeof imported === "string" ? join(folder, imported) : createRequire(from).resolve(packageName);
  return pathToFileURL(path).href;
}

function readMember(provider: unknown, name: string): unknown {
  const isObject = typeof provider === "function" || (typeof provider === "object" && provider !== null);
  return isObject ? Reflect.get(provider, name) : undefined;
}

function make(provider: unknown, createModel: unknown, upstreamModel: string): unknown {
  return typeof createModel === "function" ? createModel.call(provider, upstreamModel) : null;
}

/**
 * The factory export, such as `createMistral` of `@ai-sdk/mistral`: of several, the longest whose name is in the
 * package's.
 */
function findFactory(loaded: Record<string, unknown>, packageName: string): (settings: object) => unknown {
  const words = packageName.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const factories = Object.entries(loaded).filter(
    (entry): entry is [string, (settings: object) => unknown] =>
      /^create[A-Z]/.test(entry[0]) && typeof entry[1] === "function",
  );
  const named = factories
    .filter(([name]) => words.endsWith(name.slice("create".length).toLowerCase()))
    .sort(([one], [other]) => other.length - one.length);
  const [, factory] = named[0] ?? (factories.length === 1 ? factories[0] : undefined) ?? [];
  if (factory === undefined) {
    throw new OperatorError(
      `The package ${packageName} is not an AI SDK provider.`,
      "It must export a create… function. Install a provider package.",
    );
  }
  return factory;
}

function requireModel<M>(model: unknown, packageName: string): M {
  const version = isPlainObject(model) ? model.specificationVersion : undefined;
  if (version === spokenVersion) return model as M;
  throw new OperatorError(
    `The package ${packageName} speaks version ${String(version)} of the AI SDK's interface, not ${spokenVersion}.`,
    "Install a version of it that belongs to the AI SDK 7.",
  );
}
