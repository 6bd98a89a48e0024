import { readReference, resolveSecret } from "../platform/config/secrets.ts";
import { findPackageFault, type PackageFault } from "./ai-sdk/load-package.ts";
import { ProviderError } from "./contract.ts";
import type { ProviderDefinition } from "./provider-definition.ts";

/** Why a provider cannot be called as it is set up. Only the operator can change that, so its routes are out of service. */
export type SetupFault = {
  code: "missing-secret" | PackageFault["code"];
  /** What is missing or unfit: the name of the variable or of the package. */
  subject: string;
  message: string;
  remedy: string;
};

/** A provider with the reference to one of its keys, `${LIKE_THIS}`; `null` for a provider that declares no key. */
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

/** The key to send. Throws where a secret of the provider is missing: no call ever leaves without it. */
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
    message: `The environment has no variable ${name}.`,
    remedy: `Set ${name}, or ${name}_FILE to the path of a file that contains it, where the gateway starts.`,
  };
}
