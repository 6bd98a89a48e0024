import type { JSONWebKeySet } from "jose";
import type { Clock } from "../../../lib/clock.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { askJson } from "../../../platform/net/ask-json.ts";

/** A service that signs people in, as an operator has registered this site with it. */
export type OidcSettings = { id: string; name: string; issuer: string; clientId: string; clientSecret: string };

type ProviderAddresses = { authorization: URL; token: URL; keys: URL; takesBasic: boolean };

export type OidcProvider = OidcSettings & {
  /** Where it is asked for what; asked for once an hour. */
  discover(signal: AbortSignal): Promise<ProviderAddresses>;
  /** The keys that it signs with; `isStale` when one of them was not among those it had. */
  readKeys(options: { isStale: boolean }, signal: AbortSignal): Promise<JSONWebKeySet>;
};

const rememberMs = 60 * 60_000;
/** Whoever sends us signatures of unknown keys cannot make us ask for keys more often. */
const keysAgainMs = 10_000;

export function createOidcProvider(settings: OidcSettings, clock: Clock): OidcProvider {
  let addresses: { value: ProviderAddresses; atMs: number } | null = null;
  let keys: { value: JSONWebKeySet; atMs: number } | null = null;

  async function discover(signal: AbortSignal): Promise<ProviderAddresses> {
    const nowMs = clock.monotonicMs();
    if (addresses === null || nowMs - addresses.atMs > rememberMs) {
      addresses = { value: await askAddresses(settings, signal), atMs: nowMs };
    }
    return addresses.value;
  }

  return {
    ...settings,
    discover,
    async readKeys({ isStale }, signal) {
      const nowMs = clock.monotonicMs();
      const ageMs = keys === null ? Number.POSITIVE_INFINITY : nowMs - keys.atMs;
      if (keys === null || ageMs > (isStale ? keysAgainMs : rememberMs)) {
        const answer = await ask(settings, { url: (await discover(signal)).keys, method: "GET", signal });
        if (!Array.isArray(answer.keys)) throw createUnreachable(settings, "its keys are not a list");
        keys = { value: { keys: answer.keys }, atMs: nowMs };
      }
      return keys.value;
    },
  };
}

/** OpenID Connect Discovery: the document must be the issuer's own. */
async function askAddresses(settings: OidcSettings, signal: AbortSignal): Promise<ProviderAddresses> {
  const url = new URL(`${settings.issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  const document = await ask(settings, { url, method: "GET", signal });
  if (document.issuer !== settings.issuer) throw createUnreachable(settings, "its document is of another issuer");
  const methods = document.token_endpoint_auth_methods_supported;
  return {
    authorization: readAddress(settings, document.authorization_endpoint),
    token: readAddress(settings, document.token_endpoint),
    keys: readAddress(settings, document.jwks_uri),
    // What every provider has that does not say otherwise.
    takesBasic: !Array.isArray(methods) || methods.includes("client_secret_basic"),
  };
}

/** Secrets go there: encrypted, unless the issuer itself is not. */
function readAddress(settings: OidcSettings, text: unknown): URL {
  const url = typeof text === "string" ? URL.parse(text) : null;
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && settings.issuer.startsWith("http:"));
  if (url === null || !isSafe) throw createUnreachable(settings, "its document names no usable address");
  return url;
}

/** Asks the provider for an object. What is wrong with it is for the log; the person can only try again. */
export async function ask(
  settings: OidcSettings,
  question: Parameters<typeof askJson>[0],
): Promise<Record<string, unknown>> {
  let answer: Awaited<ReturnType<typeof askJson>>;
  try {
    answer = await askJson(question);
  } catch (error) {
    question.signal.throwIfAborted();
    throw createUnreachable(settings, "it does not answer properly", error);
  }
  if (answer.status !== 200 || typeof answer.value !== "object" || answer.value === null) {
    throw createUnreachable(settings, `it answers with status ${answer.status}`);
  }
  return answer.value as Record<string, unknown>;
}

function createUnreachable({ id, name }: OidcSettings, reason: string, cause?: unknown): AppError {
  return new AppError("overloaded", `${name} cannot sign you in at the moment. Try again, or sign in another way.`, {
    detail: { provider: id, reason },
    ...(cause === undefined ? {} : { cause }),
  });
}
