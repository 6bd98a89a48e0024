import type { ClientAuth, CustomFetch, ServerMetadata } from "openid-client";
import { type Clock, systemClock } from "../../../../lib/clock.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { createWholeFetch } from "../../../../platform/net/fetch-whole.ts";
import { createGuardedClient } from "../../../../platform/net/guarded-client.ts";

/** An OpenID Connect provider as registered by the operator. */
export type OidcSettings = { id: string; name: string; issuer: string; clientId: string; clientSecret: string };

/** The parameters of one sign-in. */
type Question = { redirectUri: string; state: string; nonce: string; verifier: string };

export type ProviderClaims = { subject: string; email: string | null; isEmailVerified: boolean; name: string | null };

export type OidcProvider = OidcSettings & {
  /** The authorization URL. */
  presentEntry(question: Question, signal: AbortSignal): Promise<string>;
  /** Exchanges the code and validates the ID token. */
  exchangeCode(code: string, question: Question, signal: AbortSignal): Promise<ProviderClaims>;
};

const rememberMs = 60 * 60_000;
const clockDifferenceSeconds = 60;
const textCharactersMax = 255;
// The operator chose the provider, so private addresses are allowed. Requests are small and rare.
const ask = createWholeFetch(createGuardedClient({ allowsPrivate: true }), {
  bytesMax: 256 * 1024,
  timeoutMs: 15_000,
  connection: "fresh",
});

/** Wraps the OpenID Connect library with our clock, outbound client and errors. */
export function createOidcProvider(settings: OidcSettings, clock: Clock): OidcProvider {
  const { issuer, clientId, clientSecret } = settings;
  let discovered: { server: ServerMetadata; atMs: number } | null = null;

  /** New each time: the library caches the provider's keys in it, and they may rotate. */
  async function configure(signal: AbortSignal) {
    const oidc = await import("openid-client");
    const fetchWithin: CustomFetch = (url, { method, headers, body }) =>
      ask(url, { method, headers, body: body instanceof URLSearchParams ? body : null, signal });
    const execute = issuer.startsWith("http:") ? [oidc.allowInsecureRequests] : [];
    const nowMs = clock.monotonicMs();
    if (discovered === null || nowMs - discovered.atMs > rememberMs) {
      const options = { execute, [oidc.customFetch]: fetchWithin };
      const found = await oidc.discovery(new URL(issuer), clientId, undefined, oidc.None(), options);
      discovered = { server: found.serverMetadata(), atMs: nowMs };
    }
    const { server } = discovered;
    const methods = server.token_endpoint_auth_methods_supported;
    // Defaults of the OpenID Connect specification.
    const takesBasic = methods === undefined || methods.includes("client_secret_basic");
    const authentication = takesBasic ? presentBasic(settings) : oidc.ClientSecretPost(clientSecret);
    const metadata = {
      // The library reads the system clock.
      [oidc.clockSkew]: Math.round((clock.now().getTime() - systemClock.now().getTime()) / 1000),
      [oidc.clockTolerance]: clockDifferenceSeconds,
    };
    const config = new oidc.Configuration(server, clientId, metadata, authentication);
    config[oidc.customFetch] = fetchWithin;
    for (const extend of [...execute, oidc.enableNonRepudiationChecks]) extend(config);
    return { oidc, config };
  }

  return {
    ...settings,
    async presentEntry({ redirectUri, state, nonce, verifier }, signal) {
      try {
        const { oidc, config } = await configure(signal);
        return oidc.buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope: "openid email profile",
          state,
          nonce,
          code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
          code_challenge_method: "S256",
        }).href;
      } catch (error) {
        throw createUnreachable(settings, error, signal);
      }
    },
    async exchangeCode(code, { redirectUri, state, nonce, verifier }, signal) {
      try {
        const { oidc, config } = await configure(signal);
        const callback = new URL(redirectUri);
        callback.search = new URLSearchParams({ code, state, iss: config.serverMetadata().issuer }).toString();
        const tokens = await oidc.authorizationCodeGrant(config, callback, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        return readClaims(tokens.claims() ?? {});
      } catch (error) {
        if (!isAboutToken(error)) throw createUnreachable(settings, error, signal);
        throw createRefusal(settings, error);
      }
    },
  };
}

/** The library encodes hyphens and dots, which not every provider decodes. */
function presentBasic({ clientId, clientSecret }: OidcSettings): ClientAuth {
  const credentials = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
  return (_server, _client, _body, headers) =>
    headers.set("authorization", `Basic ${Buffer.from(credentials).toString("base64")}`);
}

function readClaims(claims: Record<string, unknown>): ProviderClaims {
  const { sub, email, email_verified: isVerified, name } = claims;
  if (typeof sub !== "string" || sub === "" || sub.length > textCharactersMax)
    throw new TokenError("The token has no subject.");
  return {
    subject: sub,
    email: typeof email === "string" ? email : null,
    isEmailVerified: isVerified === true || isVerified === "true",
    name: typeof name === "string" ? name.slice(0, textCharactersMax) : null,
  };
}

class TokenError extends Error {
  readonly code = "OAUTH_INVALID_RESPONSE";
}

/** Library errors for a well-formed but invalid response. */
const tokenCodes: ReadonlySet<unknown> = new Set([
  "OAUTH_INVALID_RESPONSE",
  "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
  "OAUTH_JWT_TIMESTAMP_CHECK_FAILED",
  "OAUTH_KEY_SELECTION_FAILED",
  "OAUTH_UNSUPPORTED_OPERATION",
]);

function isAboutToken(error: unknown): boolean {
  return error instanceof Error && "code" in error && tokenCodes.has(error.code);
}

/** The reason goes to the log; the user can only retry. */
function createUnreachable({ id, name }: OidcSettings, cause: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  return new AppError("overloaded", `${name} is unavailable. Try again, or use another sign-in method.`, {
    detail: { provider: id, reason: cause instanceof Error ? cause.message : String(cause) },
    cause,
  });
}

function createRefusal({ id, name }: OidcSettings, cause: unknown): AppError {
  return new AppError("wrong_credentials", `The response of ${name} is invalid. Start again.`, {
    detail: { provider: id, reason: cause instanceof Error ? cause.message : String(cause) },
    cause,
  });
}
