import { readReference, type SecretReader } from "../platform/config/secrets.ts";
import { findCredentialFault } from "./accounts/find-credential-fault.ts";
import { findPackageFault, type PackageFault } from "./ai-sdk/load-package.ts";
import { ProviderError } from "./contract.ts";
import type { ProviderDefinition } from "./provider-definition.ts";

/** Why a route is out of service: its setup does not work, or an operator switched it off. Only operators change that. */
export type SetupFault = {
  code: "missing-secret" | "unreadable-secret" | "unfit-secret" | PackageFault["code"] | "disabled" | "draining";
  /** The name of the secret, of the missing or incompatible package, or of what is switched off. */
  subject: string;
  message: string;
  remedy: string;
  /** Tasks that were accepted before may still go there. */
  admitsBefore?: Date;
};

/** A provider with a reference to one of its keys, `${LIKE_THIS}`; `null` for a provider without keys. */
type KeyedProvider = { provider: ProviderDefinition; apiKeyReference: string | null; secrets: SecretReader };

export function findSetupFault(
  { provider, apiKeyReference, secrets }: KeyedProvider,
  packagesFolder: string | null,
): SetupFault | null {
  const texts = [...(apiKeyReference === null ? [] : [apiKeyReference]), ...Object.values(provider.headers ?? {})];
  const missing = texts.find((text) => secrets.find(text) === null);
  if (missing !== undefined) return describeSecretFault(missing, secrets);
  const unfit = apiKeyReference === null ? null : findUnfitSecret(provider, apiKeyReference, secrets);
  if (unfit !== null) return unfit;
  if (provider.package === undefined) return null;
  const fault = findPackageFault({ packageName: provider.package, packagesFolder });
  return fault === null ? null : { ...fault, subject: provider.package };
}

function findUnfitSecret(provider: ProviderDefinition, reference: string, secrets: SecretReader): SetupFault | null {
  const name = readReference(reference) ?? reference;
  const fault = findCredentialFault(provider, { name, value: secrets.find(reference) ?? "" });
  return fault === null ? null : { code: "unfit-secret", subject: name, ...fault };
}

/** The key to send. Throws if a secret of the provider is missing: no call is sent without it. */
export function readApiKey({ provider, apiKeyReference, secrets }: KeyedProvider): string | null {
  if (provider.headers !== undefined) for (const text of Object.values(provider.headers)) requireSecret(text, secrets);
  return apiKeyReference === null ? null : requireSecret(apiKeyReference, secrets);
}

function requireSecret(text: string, secrets: SecretReader): string {
  const value = secrets.use(text);
  if (value === null) throw new ProviderError("key-refused", describeSecretFault(text, secrets).message);
  return value;
}

function describeSecretFault(text: string, secrets: SecretReader): SetupFault {
  const subject = readReference(text) ?? text;
  if (secrets.isUnreadable(text)) {
    return {
      ...{ code: "unreadable-secret", subject },
      message: `The stored secret ${subject} is sealed with another secret key.`,
      remedy: `Use the same secret_key on every node, or store it again: npm run -s sluice -- secret set ${subject}`,
    };
  }
  return { code: "missing-secret", subject, ...explainMissingSecret(subject) };
}

/** For operators. */
export function explainMissingSecret(name: string): { message: string; remedy: string } {
  return {
    message: `The secret ${name} is not set.`,
    remedy: `Store it: npm run -s sluice -- secret set ${name}. Or set the environment variable ${name}, or ${name}_FILE to the path of a file that contains it, where the gateway starts.`,
  };
}
