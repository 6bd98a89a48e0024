import { readReference, resolveSecret } from "../platform/config/secrets.ts";
import { findPackageFault, type PackageFault } from "./ai-sdk/load-package.ts";
import { ProviderError } from "./contract.ts";
import type { ProviderDefinition } from "./provider-definition.ts";

/**
 * Why a provider cannot be called with its setup. Only the operator can change that, so its routes are out of service.
 */
export type SetupFault = {
  code: "missing-secret" | PackageFault["code"];
  /** The name of the missing variable, or of the missing or incompatible package. */
  subject: string;
  message: string;
  remedy: string;
};

/** A provider with a reference to one of its keys, `${LIKE_THIS}`; `null` for a provider without keys. */
type KeyedProvider = { provider: ProviderDefinition; apiKeyReference: string | null };

export function findSetupFault(
  { provider, apiKeyReference }: KeyedProvider,
  packagesFolder: string | null,
): SetupFault | null {
  const texts = [...(apiKeyReference === null ? [] : [apiKeyReference]), ...Object.values(provider.headers ?? {})];
  const missing = texts.find((text) => resolveSecret(text) === null);
  if (missing !== undefined) return describeMissingSecret(missing);
  if (provider.package === undefined) return null;
  const fault = findPackageFault({ packageName: provider.package, packagesFolder });
  return fault === null ? null : { ...fault, subject: provider.package };
}

/** The key to send. Throws if a secret of the provider is missing: no call is sent without it. */
export function readApiKey({ provider, apiKeyReference }: KeyedProvider): string | null {
  if (provider.headers !== undefined) for (const text of Object.values(provider.headers)) requireSecret(text);
  return apiKeyReference === null ? null : requireSecret(apiKeyReference);
}

function requireSecret(text: string): string {
  const value = resolveSecret(text);
  if (value === null) throw new ProviderError("key-refused", describeMissingSecret(text).message);
  return value;
}

function describeMissingSecret(text: string): SetupFault {
  const name = readReference(text) ?? text;
  return {
    code: "missing-secret",
    subject: name,
    message: `The environment variable ${name} is not set.`,
    remedy: `Set ${name}, or ${name}_FILE to the path of a file that contains it, where the gateway starts.`,
  };
}
