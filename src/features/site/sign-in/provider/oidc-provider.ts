import type { ClientAuth, CustomFetch, ServerMetadata } from "openid-client";
import { type Clock, systemClock } from "../../../../lib/clock.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { createWholeFetch } from "../../../../platform/net/fetch-whole.ts";
import { createGuardedClient } from "../../../../platform/net/guarded-client.ts";

/** A service that signs people in, as an operator has registered this site with it. */
export type OidcSettings = { id: string; name: string; issuer: string; clientId: string; clientSecret: string };

/** What one sign-in is known by at the provider. */
type Question = { redirectUri: string; state: string; nonce: string; verifier: string };

/** What a provider says of the person. */
export type ProviderClaims = { subject: string; email: string | null; isEmailVerified: boolean; name: string | null };

export type OidcProvider = OidcSettings & {
  /** Where the browser is sent. */
  presentEntry(question: Question, signal: AbortSignal): Promise<string>;
  /** Exchanges the code that the browser came back with, and checks the ID token that it is worth. */
  exchangeCode(code: string, question: Question, signal: AbortSignal): Promise<ProviderClaims>;
};

const rememberMs = 60 * 60_000;
const clockDifferenceSeconds = 60;
const textCharactersMax = 255;
// The operator named the provider, which may be inside. What is asked for is small and asked for rarely.
const ask = createWholeFetch(createGuardedClient({ allowsPrivate: true }), {
  bytesMax: 256 * 1024,
  timeoutMs: 15_000,
  connection: "fresh",
});

/** OpenID Connect by the library; here is what it cannot know: our clock, our outbound client and our errors. */
export function createOidcProvider(settings: OidcSettings, clock: Clock): OidcProvider {
  const { issuer, clientId, clientSecret } = settings;
  let discovered: { server: ServerMetadata; atMs: number } | null = null;

  /** New each time, because the library keeps the provider's keys with it, and the provider may have new ones. */
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
    // What every provider has that does not say otherwise.
    const takesBasic = methods === undefined || methods.includes("client_secret_basic");
    const authentication = takesBasic ? presentBasic(settings) : oidc.ClientSecretPost(clientSecret);
    const metadata = {
      // The library reads the machine's own clock.
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

/** The library's own writes hyphens and dots as `%2D` and `%2E`, which not every provider reads. */
function presentBasic({ clientId, clientSecret }: OidcSettings): ClientAuth {
  const credentials = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
  return (_server, _client, _body, headers) =>
    headers.set("authorization", `Basic ${Buffer.from(credentials).toString("base64")}`);
}

function readClaims(claims: Record<string, unknown>): ProviderClaims {
  const { sub, email, email_verified: isVerified, name } = claims;
  if (typeof sub !== "string" || sub === "" || sub.length > textCharactersMax) throw new TokenError("It names nobody.");
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

/** What the library says of an answer that came properly and does not hold. */
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

/** What is wrong with it is for the log; the person can only try again. */
function createUnreachable({ id, name }: OidcSettings, cause: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  return new AppError("overloaded", `${name} cannot sign you in at the moment. Try again, or sign in another way.`, {
    detail: { provider: id, reason: cause instanceof Error ? cause.message : String(cause) },
    cause,
  });
}

function createRefusal({ id, name }: OidcSettings, cause: unknown): AppError {
  return new AppError("wrong_credentials", `What ${name} sent does not sign you in. Begin again.`, {
    detail: { provider: id, reason: cause instanceof Error ? cause.message : String(cause) },
    cause,
  });
}
