import { findPackageJSON } from "node:module";
import type { EmbeddingModelV4, LanguageModelV4 } from "@ai-sdk/provider";
import { OperatorError } from "../../platform/errors/operator-error.ts";
import { isPlainObject } from "./read-json.ts";

/** Makes a model by its name. */
export type VendorModels = (upstreamModel: string) => LanguageModelV4;

/** Neither a path nor a URL: whoever names a package names one that was installed. */
const packageNamePattern = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/;
const spokenVersion = "v4";

/** Says at once, without loading it, that a package is not there. */
export function requirePackage(packageName: string): void {
  if (!packageNamePattern.test(packageName)) {
    throw new OperatorError(`"${packageName}" is no name of a package.`, "Name one as npm does: @ai-sdk/mistral.");
  }
  if (!isInstalled(packageName)) {
    throw new OperatorError(`The package ${packageName} is not installed.`, `Install it: npm install ${packageName}`);
  }
}

function isInstalled(packageName: string): boolean {
  try {
    return findPackageJSON(packageName, import.meta.url) !== undefined;
  } catch {
    // That is how the runtime says that there is no such package.
    return false;
  }
}

/** Loads a provider package of the AI SDK, and gives it its settings. */
export async function loadVendorModels(packageName: string, settings: Record<string, unknown>): Promise<VendorModels> {
  const provider = await loadProvider(packageName, settings);
  const createModel = readMember(provider, "languageModel") ?? provider;
  return (upstreamModel) => requireModel<LanguageModelV4>(make(provider, createModel, upstreamModel), packageName);
}

/** The same for models that embed. */
export async function loadVendorEmbeddings(
  packageName: string,
  settings: Record<string, unknown>,
): Promise<(upstreamModel: string) => EmbeddingModelV4> {
  const provider = await loadProvider(packageName, settings);
  const createModel = readMember(provider, "embeddingModel") ?? readMember(provider, "textEmbeddingModel");
  return (upstreamModel) => requireModel<EmbeddingModelV4>(make(provider, createModel, upstreamModel), packageName);
}

async function loadProvider(packageName: string, settings: Record<string, unknown>): Promise<unknown> {
  const loaded: Record<string, unknown> = await import(packageName);
  return findFactory(loaded, packageName)(settings);
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
