import { readFileSync } from "node:fs";
import { createRequire, findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { EmbeddingModelV4, LanguageModelV4 } from "@ai-sdk/provider";
import { OperatorError } from "../../platform/errors/operator-error.ts";
import { isPlainObject } from "./read-json.ts";

/** A package by its name, and the folder that `upstream install` installs into; `null`: only Sluice's own packages. */
export type PackagePlace = { packageName: string; packagesFolder: string | null };

/** Why a package cannot be used. */
export type PackageFault = { code: "missing-package" | "unfit-package"; message: string; remedy: string };

/** Makes a model by its name. */
export type VendorModels = (upstreamModel: string) => LanguageModelV4;

/** Neither a path nor a URL: whoever names a package names one that was installed. */
const packageNamePattern = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/;
const spokenVersion = "v4";
/** The package that has the interface, and which of its major versions has the one that is spoken here. */
export const interfacePackage = "@ai-sdk/provider";
export const interfaceMajor = 4;

export function isPackageName(text: string): boolean {
  return packageNamePattern.test(text);
}

/** Whether a package is there and made for the interface that is spoken here, by what it says itself: nothing is loaded. */
export function findPackageFault(place: PackagePlace): PackageFault | null {
  const { packageName } = place;
  const remedy = `Install the version that fits: npm run -s sluice -- upstream install ${packageName}`;
  if (!isPackageName(packageName)) {
    const message = `"${packageName}" is no name of a package.`;
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

/** The major version of the interface that a package depends on; `null` where it does not say. */
export function readInterfaceMajor(manifest: Record<string, unknown>): number | null {
  for (const name of ["dependencies", "peerDependencies"]) {
    const dependencies = manifest[name];
    const range = isPlainObject(dependencies) ? dependencies[interfacePackage] : undefined;
    const major = typeof range === "string" ? /\d+/.exec(range)?.[0] : undefined;
    if (major !== undefined) return Number(major);
  }
  return null;
}

/** Throws at once, without loading anything, where a package cannot be used. */
export function requirePackage(place: PackagePlace): void {
  const fault = findPackageFault(place);
  if (fault !== null) throw new OperatorError(fault.message, fault.remedy);
}

type InstalledPackage = {
  /** The file whose place it was found from. */
  from: string;
  folder: string;
  manifest: Record<string, unknown>;
};

/** What was installed for this deployment goes before what Sluice itself depends on. */
function findInstalled({ packageName, packagesFolder }: PackagePlace): InstalledPackage | null {
  const places = [...(packagesFolder === null ? [] : [join(packagesFolder, "package.json")]), import.meta.filename];
  for (const from of places) {
    try {
      const path = findPackageJSON(packageName, pathToFileURL(from));
      if (path === undefined) continue;
      return { from, folder: dirname(path), manifest: JSON.parse(readFileSync(path, "utf8")) };
    } catch {
      // That is how the runtime says that there is no such package.
    }
  }
  return null;
}

/** Loads a provider package of the AI SDK, and gives it its settings. */
export async function loadVendorModels(place: PackagePlace, settings: Record<string, unknown>): Promise<VendorModels> {
  const { packageName } = place;
  const provider = await loadProvider(place, settings);
  const createModel = readMember(provider, "languageModel") ?? provider;
  return (upstreamModel) => requireModel<LanguageModelV4>(make(provider, createModel, upstreamModel), packageName);
}

/** The same for models that embed. */
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

/** The URL of the file that importing the package loads. */
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

/** The export `createMistral` of `@ai-sdk/mistral`: of several, the longest whose name is in the package's. */
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
      `The package ${packageName} is no provider of the AI SDK.`,
      "It has no create… of its own.",
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
