import { hideSecrets, isSecretName } from "../../lib/secret-shapes.ts";
import type { SecretReader } from "../../platform/config/secrets.ts";
import type { ProviderError, ProviderErrorKind } from "../contract.ts";
import type { ProviderDefinition } from "../provider-definition.ts";

/** An upstream's failure, for operators: bounded, and without our keys. */
export type FailureDescription = {
  kind: ProviderErrorKind;
  /** The HTTP status; `null` without a response. */
  status: number | null;
  /** The vendor's own error code. */
  code: string | null;
  said: string | null;
};

type SecretHolder = {
  apiKeyReference: string | null;
  provider: Pick<ProviderDefinition, "headers">;
  secrets: Pick<SecretReader, "listSent">;
};

const saidCharactersMax = 300;
const codeCharactersMax = 64;
/** A shorter secret might be part of any word. */
const secretCharactersMin = 8;

export function describeFailure(error: ProviderError, target: SecretHolder): FailureDescription {
  const { status, code, message } = error.detail ?? {};
  return {
    kind: error.kind,
    status: typeof status === "number" ? status : null,
    code: quote(code, target, codeCharactersMax),
    said: quote(message, target, saidCharactersMax) ?? quote(describeCause(error), target, saidCharactersMax),
  };
}

/** If the upstream sent no message: the network error. */
function describeCause({ message, cause }: ProviderError): string {
  return cause instanceof Error && cause.message !== message ? `${message} ${cause.message}` : message;
}

function quote(text: unknown, target: SecretHolder, charactersMax: number): string | null {
  if (typeof text !== "string" || text === "") return null;
  let quoted = text;
  for (const secret of listSecrets(target)) quoted = quoted.replaceAll(secret, "[hidden]");
  return hideQueries(hideSecrets(quoted)).replaceAll(unprintable, " ").toWellFormed().slice(0, charactersMax);
}

function listSecrets({ apiKeyReference, provider, secrets }: SecretHolder): string[] {
  const references = [...(apiKeyReference === null ? [] : [apiKeyReference]), ...Object.values(provider.headers ?? {})];
  const sent = references.flatMap(secrets.listSent);
  return [...sent, ...sent.flatMap(listParts)].filter((secret) => secret.length >= secretCharactersMin);
}

/** Some credentials are JSON, such as the key file of a service account. */
function listParts(secret: string): string[] {
  const parts: string[] = [];
  try {
    JSON.parse(secret, (name, value: unknown) => {
      if (typeof value === "string" && isSecretName(name)) parts.push(value);
      return value;
    });
  } catch {
    // A plain key.
  }
  return parts;
}

const unprintable = /[\p{Cc}\p{Cs}]+/gu;

/** The query of a customer's URL may grant access to it. */
function hideQueries(text: string): string {
  return text.replaceAll(/(https?:\/\/[^\s?"']{1,300}\?)[^\s"']+/gi, "$1[hidden]");
}
