import { findPackageJSON } from "node:module";
import type { LanguageModelV4 } from "@ai-sdk/provider";
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
  const loaded: Record<string, unknown> = await import(packageName);
  const provider = findFactory(loaded, packageName)(settings);
  return (upstreamModel) => {
    const isObject = typeof provider === "function" || (typeof provider === "object" && provider !== null);
    const createModel: unknown = isObject ? (Reflect.get(provider, "languageModel") ?? provider) : null;
    const model: unknown = typeof createModel === "function" ? createModel.call(provider, upstreamModel) : null;
    return requireModel(model, packageName);
  };
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

function requireModel(model: unknown, packageName: string): LanguageModelV4 {
  const version = isPlainObject(model) ? model.specificationVersion : undefined;
  if (version === spokenVersion) return model as unknown as LanguageModelV4;
  throw new OperatorError(
    `The package ${packageName} speaks version ${String(version)} of the AI SDK's interface, not ${spokenVersion}.`,
    "Install a version of it that belongs to the AI SDK 7.",
  );
}
