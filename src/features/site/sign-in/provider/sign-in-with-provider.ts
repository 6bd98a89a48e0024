import type { UserId } from "../../../../lib/ids.ts";
import { invariant } from "../../../../lib/invariant.ts";
import { type Database, inTransaction } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { announceChange } from "../announce-change.ts";
import { type Browser, openSession, requireLiveSession, type StillHolds } from "../session/sessions.ts";
import type { SiteSession } from "../session/site-session.ts";
import type { SignInParts } from "../sign-in-parts.ts";
import { beginAttempt, limitBeginnings } from "../throttle.ts";
import { requireEmail } from "../user/check-email.ts";
import { findUserByEmail, lockUser } from "../user/user-store.ts";
import { hashToken, makeToken } from "../user/user-token.ts";
import { insertToken, takeToken } from "../user/user-token-store.ts";
import { findIdentityOwner, insertIdentity } from "./identity-store.ts";
import type { OidcProvider, ProviderClaims } from "./oidc-provider.ts";

export const providerMs = 10 * 60_000;

type ProviderDetails = { providerId: string; nonce: string; verifier: string; next: string };

type Beginning = { next: string; session: SiteSession | null; address: string; signal: AbortSignal };

/** Where to send the browser, and the text of the cookie by which it is known when it comes back. */
export async function beginProviderSignIn(
  parts: SignInParts,
  provider: OidcProvider,
  { next, session, address, signal }: Beginning,
): Promise<{ location: string; stateToken: string }> {
  await beginAttempt(parts, limitBeginnings(address));
  const [state, nonce, verifier] = [0, 1, 2].map(() => makeToken(parts.randomBytes));
  invariant(state !== undefined && nonce !== undefined && verifier !== undefined, "three were made");
  const redirectUri = presentCallback(parts, provider);
  const question = { redirectUri, state: state.text, nonce: nonce.text, verifier: verifier.text };
  const location = await provider.presentEntry(question, signal);
  const now = parts.clock.now();
  const details: ProviderDetails = { providerId: provider.id, nonce: nonce.text, verifier: verifier.text, next };
  await insertToken(parts.database, {
    hash: state.hash,
    kind: "provider",
    email: null,
    userId: session?.userId ?? null,
    details,
    createdAt: now,
    expiresAt: new Date(now.getTime() + providerMs),
  });
  return { location, stateToken: state.text };
}

type Callback = {
  query: { state?: string; code?: string; error?: string; iss?: string };
  stateToken: string | null;
  session: SiteSession | null;
  browser: Browser;
  signal: AbortSignal;
};

/** The browser has come back. Answers the text of a session's cookie, where somebody was signed in by it. */
export async function finishProviderSignIn(
  parts: SignInParts,
  provider: OidcProvider,
  callback: Callback,
): Promise<{ next: string; sessionToken: string | null }> {
  const { beginning, details } = await takeBeginning(parts, provider, callback);
  const { code, error, iss } = callback.query;
  // RFC 9207: another provider's answer must not be taken for this one's.
  if (error !== undefined || code === undefined || (iss !== undefined && iss !== provider.issuer)) {
    throw createUnsigned(provider);
  }
  const { nonce, verifier } = details;
  const question = {
    redirectUri: presentCallback(parts, provider),
    state: callback.query.state ?? "",
    nonce,
    verifier,
  };
  const claims = await provider.exchangeCode(code, question, callback.signal);
  const { session, browser } = callback;
  const identity = { providerId: provider.id, subject: claims.subject };
  const known = await findIdentityOwner(parts.database, identity);
  if (session !== null && beginning.userId === session.userId) {
    if (known === null) await linkIdentity(parts, { provider, claims, session });
    else if (known !== session.userId) throw createElsewhere(provider);
    return { next: details.next, sessionToken: null };
  }
  const userId = known ?? (await openWithProvider(parts, provider, claims));
  const stillHolds: StillHolds = async (tx) => (await findIdentityOwner(tx, identity)) === userId;
  const sessionToken = await openSession(parts, { userId, browser, stillHolds });
  if (sessionToken === null) throw createUnsigned(provider);
  parts.logger.info({ user_id: userId, method: `provider ${provider.id}`, address: browser.address }, "signed in");
  return { next: details.next, sessionToken };
}

/** What this browser began with this provider, once. */
async function takeBeginning(parts: SignInParts, provider: OidcProvider, { query, stateToken }: Callback) {
  const hash = hashToken(stateToken ?? "");
  const isOurs = stateToken !== null && query.state === stateToken;
  const beginning = isOurs ? await takeToken(parts.database, { kind: "provider", hash, now: parts.clock.now() }) : null;
  const details = beginning?.details as ProviderDetails | undefined;
  if (beginning === null || details?.providerId !== provider.id) {
    throw new AppError("invalid_token", "This sign-in took too long, or was begun in another browser. Begin again.");
  }
  return { beginning, details };
}

/**
 * Somebody who is signed in, and has just proven it, adds a way to sign in. Only for the same address, proven to the
 * provider too: or whoever finds a browser unattended adds their own.
 */
async function linkIdentity(
  parts: SignInParts,
  { provider, claims, session }: { provider: OidcProvider; claims: ProviderClaims; session: SiteSession },
): Promise<void> {
  const now = parts.clock.now();
  if (session.freshUntil.getTime() <= now.getTime()) {
    throw new AppError("reauthentication_required", "Prove that it is you, then connect the provider again.");
  }
  if (!claims.isEmailVerified || claims.email?.toLowerCase() !== session.email.toLowerCase()) {
    const message = `${provider.name} knows you by another address, or has not proven it. Only your own can be connected.`;
    throw new AppError("wrong_credentials", message);
  }
  const identity = { providerId: provider.id, subject: claims.subject, userId: session.userId, createdAt: now };
  await inTransaction(parts.database, async (tx) => {
    await lockUser(tx, session.userId);
    // Whoever was signed out meanwhile leaves no way in behind.
    await requireLiveSession({ ...parts, database: tx }, session.id);
    if (!(await insertIdentity(tx, identity))) throw createElsewhere(provider);
  });
  announceChange(parts, session, `${provider.name} was connected as a way to sign in`);
}

/** An account for somebody new. Never one that exists: whose address it is there, only its owner can say. */
async function openWithProvider(parts: SignInParts, provider: OidcProvider, claims: ProviderClaims): Promise<UserId> {
  const { email, name } = claims;
  if (email === null || !claims.isEmailVerified) {
    throw new AppError(
      "wrong_credentials",
      `${provider.name} has not proven your e-mail address. Sign up with it here.`,
    );
  }
  requireEmail(email);
  const userId = await inTransaction(parts.database, async (tx) => {
    if ((await findUserByEmail(tx, email)) !== null) {
      const message = `There is an account for your address already. Sign in to it, then connect ${provider.name} in the settings.`;
      throw new AppError("wrong_credentials", message);
    }
    if (parts.signUp !== "open") throw new AppError("sign_up_closed", "This site takes no new accounts this way.");
    return await insertPerson(parts, tx, { email, name, provider, claims });
  });
  parts.logger.info({ user_id: userId }, "signed up");
  return userId;
}

type NewPersonByProvider = { email: string; name: string | null; provider: OidcProvider; claims: ProviderClaims };

async function insertPerson(
  parts: SignInParts,
  tx: Database,
  { email, name, provider, claims }: NewPersonByProvider,
): Promise<UserId> {
  await parts.openAccount(tx, { email, name, passwordHash: null });
  const user = await findUserByEmail(tx, email);
  invariant(user !== null, "an account was opened without its person");
  const identity = { providerId: provider.id, subject: claims.subject, userId: user.id, createdAt: parts.clock.now() };
  if (!(await insertIdentity(tx, identity))) throw createElsewhere(provider);
  return user.id;
}

function presentCallback({ siteUrl }: SignInParts, { id }: OidcProvider): string {
  return `${siteUrl}/console/api/sign-in/provider/${id}/callback`;
}

function createUnsigned({ name }: OidcProvider): AppError {
  return new AppError("wrong_credentials", `${name} did not sign you in. Begin again, or choose another way.`);
}

function createElsewhere({ name }: OidcProvider): AppError {
  return new AppError("wrong_credentials", `This person of ${name} belongs to another account here.`);
}
