import { AppError } from "../../../platform/errors/app-error.ts";
import type { OidcProvider } from "./oidc-provider.ts";

/** What a provider says of the person. */
export type ProviderClaims = { subject: string; email: string | null; isEmailVerified: boolean; name: string | null };

/** Signatures by a key of the provider's own; never by a shared secret, and never none. */
const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA", "Ed25519"];
const clockDifferenceSeconds = 60;
const textCharactersMax = 255;

type Check = { nonce: string; now: Date; signal: AbortSignal };

/** Checks who signed the token, for whom, when, and that it answers our own question. */
export async function verifyIdToken(provider: OidcProvider, idToken: unknown, check: Check): Promise<ProviderClaims> {
  const { createLocalJWKSet, errors, jwtVerify } = await import("jose");
  const verify = async (isStale: boolean) =>
    await jwtVerify(String(idToken), createLocalJWKSet(await provider.readKeys({ isStale }, check.signal)), {
      issuer: provider.issuer,
      audience: provider.clientId,
      algorithms,
      currentDate: check.now,
      clockTolerance: clockDifferenceSeconds,
      requiredClaims: ["sub", "exp", "iat"],
    });
  try {
    const { payload } = await verify(false).catch((error: unknown) => {
      // The provider has new keys.
      if (error instanceof errors.JWKSNoMatchingKey) return verify(true);
      throw error;
    });
    const isForOthersToo = Array.isArray(payload.aud) && payload.aud.length > 1;
    const isForUs = payload.azp === undefined ? !isForOthersToo : payload.azp === provider.clientId;
    if (payload.nonce !== check.nonce || !isForUs) throw createRefusal(provider, "it answers another question");
    return {
      subject: requireText(provider, payload.sub),
      email: typeof payload.email === "string" ? payload.email : null,
      isEmailVerified: payload.email_verified === true || payload.email_verified === "true",
      name: typeof payload.name === "string" ? payload.name.slice(0, textCharactersMax) : null,
    };
  } catch (error) {
    check.signal.throwIfAborted();
    if (error instanceof AppError) throw error;
    throw createRefusal(provider, error instanceof errors.JOSEError ? error.code : "it is no token", error);
  }
}

function requireText(provider: OidcProvider, text: unknown): string {
  if (typeof text === "string" && text !== "" && text.length <= textCharactersMax) return text;
  throw createRefusal(provider, "it names nobody");
}

function createRefusal({ id, name }: OidcProvider, reason: string, cause?: unknown): AppError {
  return new AppError("wrong_credentials", `What ${name} sent does not sign you in. Begin again.`, {
    detail: { provider: id, reason },
    ...(cause === undefined ? {} : { cause }),
  });
}
