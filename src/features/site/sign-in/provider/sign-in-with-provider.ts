import type { SiteSession } from "../../../../lib/console-session.ts";
import type { UserId } from "../../../../lib/ids.ts";
import { invariant } from "../../../../lib/invariant.ts";
import { inTransaction } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { type Browser, requireLiveSession, type StillHolds } from "../session/sessions.ts";
import type { SignInDependencies } from "../sign-in-dependencies.ts";
import { limitBeginnings } from "../throttle.ts";
import { requireEmail } from "../user/check-email.ts";
import { normalizeMailbox } from "../user/normalize-mailbox.ts";
import { findUserByEmail, lockUser } from "../user/user-store.ts";
import { hashToken, issueToken, makeToken } from "../user/user-token.ts";
import { takeToken } from "../user/user-token-store.ts";
import { findIdentityOwner, insertIdentity } from "./identity-store.ts";
import type { OidcProvider, ProviderClaims } from "./oidc-provider.ts";

export const providerMs = 10 * 60_000;

type ProviderDetails = { providerId: string; nonce: string; verifier: string; next: string };

type Beginning = { next: string; session: SiteSession | null; address: string; signal: AbortSignal };

/** The authorization URL, and the cookie token that identifies the browser on return. */
export async function beginProviderSignIn(
  dependencies: SignInDependencies,
  provider: OidcProvider,
  { next, session, address, signal }: Beginning,
): Promise<{ location: string; stateToken: string }> {
  const { database, randomBytes, beginAttempt, siteUrl } = dependencies;
  await beginAttempt(limitBeginnings(address));
  const [state, nonce, verifier] = [0, 1, 2].map(() => makeToken(randomBytes));
  invariant(state !== undefined && nonce !== undefined && verifier !== undefined, "three tokens were created");
  const redirectUri = presentCallback(siteUrl, provider);
  const question = { redirectUri, state: state.text, nonce: nonce.text, verifier: verifier.text };
  const location = await provider.presentEntry(question, signal);
  const details: ProviderDetails = { providerId: provider.id, nonce: nonce.text, verifier: verifier.text, next };
  const userId = session?.userId ?? null;
  const kept = { kind: "provider", validMs: providerMs, userId, details, token: state } as const;
  await issueToken(database, dependencies, kept);
  return { location, stateToken: state.text };
}

type Callback = {
  query: { state?: string; code?: string; error?: string; iss?: string };
  stateToken: string | null;
  session: SiteSession | null;
  browser: Browser;
  signal: AbortSignal;
};

/** Handles the provider's redirect. Returns a session token if it signed a user in. */
export async function finishProviderSignIn(
  dependencies: SignInDependencies,
  provider: OidcProvider,
  callback: Callback,
): Promise<{ next: string; sessionToken: string | null }> {
  const { database, logger, sessions, siteUrl } = dependencies;
  const { beginning, details } = await takeBeginning(dependencies, provider, callback);
  const { code, error, iss } = callback.query;
  // RFC 9207: reject a response of another provider (mix-up attack).
  if (error !== undefined || code === undefined || (iss !== undefined && iss !== provider.issuer)) {
    throw createUnsigned(provider);
  }
  const { nonce, verifier } = details;
  const redirectUri = presentCallback(siteUrl, provider);
  const question = { redirectUri, state: callback.query.state ?? "", nonce, verifier };
  const claims = await provider.exchangeCode(code, question, callback.signal);
  const { session, browser } = callback;
  const identity = { providerId: provider.id, subject: claims.subject };
  const known = await findIdentityOwner(database, identity);
  if (session !== null && beginning.userId === session.userId) {
    if (known === null) await linkIdentity(dependencies, { provider, claims, session });
    else if (known !== session.userId) throw createElsewhere(provider);
    return { next: details.next, sessionToken: null };
  }
  const userId = known ?? (await openWithProvider(dependencies, provider, { claims, address: browser.address }));
  const stillHolds: StillHolds = async (tx) => (await findIdentityOwner(tx, identity)) === userId;
  const sessionToken = await sessions.open(database, { userId, browser, stillHolds });
  if (sessionToken === null) throw createUnsigned(provider);
  logger.info({ user_id: userId, method: `provider ${provider.id}`, address: browser.address }, "signed in");
  return { next: details.next, sessionToken };
}

/** The pending sign-in of this browser and provider, consumed once. */
async function takeBeginning(
  { database, clock }: SignInDependencies,
  provider: OidcProvider,
  { query, stateToken }: Callback,
) {
  const hash = hashToken(stateToken ?? "");
  const isOurs = stateToken !== null && query.state === stateToken;
  const beginning = isOurs ? await takeToken(database, { kind: "provider", hash, now: clock.now() }) : null;
  const details = beginning?.details as ProviderDetails | undefined;
  if (beginning === null || details?.providerId !== provider.id) {
    throw new AppError("invalid_token", "This sign-in expired or started in another browser. Start again.");
  }
  return { beginning, details };
}

/**
 * Adds a sign-in method to a reauthenticated session. Requires the same verified address at the provider, or someone at
 * an unattended browser could add their own.
 */
async function linkIdentity(
  { database, clock, notifyChange }: SignInDependencies,
  { provider, claims, session }: { provider: OidcProvider; claims: ProviderClaims; session: SiteSession },
): Promise<void> {
  const now = clock.now();
  if (session.freshUntil.getTime() <= now.getTime()) {
    throw new AppError("reauthentication_required", "Confirm your identity, then connect the service again.");
  }
  if (!claims.isEmailVerified || claims.email?.toLowerCase() !== session.email.toLowerCase()) {
    const message = `Your ${provider.name} account has another or an unverified e-mail address. Connect one with your own address.`;
    throw new AppError("wrong_credentials", message);
  }
  const identity = { providerId: provider.id, subject: claims.subject, userId: session.userId, createdAt: now };
  await inTransaction(database, async (tx) => {
    await lockUser(tx, session.userId);
    // A user signed out meanwhile must not leave a new sign-in method behind.
    await requireLiveSession(tx, session.id, clock.now());
    if (!(await insertIdentity(tx, identity))) throw createElsewhere(provider);
  });
  notifyChange(session, `${provider.name} was connected as a way to sign in`);
}

/** Opens a new account. Never links to an existing one: only its owner may connect a provider. */
async function openWithProvider(
  { database, clock, logger, signUp, mayWelcome, openAccount, admission }: SignInDependencies,
  provider: OidcProvider,
  { claims, address }: { claims: ProviderClaims; address: string },
): Promise<UserId> {
  const { email, name } = claims;
  if (email === null || !claims.isEmailVerified) {
    throw new AppError(
      "wrong_credentials",
      `${provider.name} has not verified your e-mail address. Sign up with your e-mail address here.`,
    );
  }
  requireEmail(email);
  const person = { mailbox: normalizeMailbox(email), address };
  if (signUp === "open") await admission.check(person);
  const isWelcome = signUp === "open" && (await mayWelcome(address));
  const userId = await inTransaction(database, async (tx) => {
    if ((await findUserByEmail(tx, email)) !== null) {
      const message = `Your address already has an account. Sign in to it, then connect ${provider.name} in Settings.`;
      throw new AppError("wrong_credentials", message);
    }
    if (signUp !== "open") throw new AppError("sign_up_closed", "This site does not accept sign-ups this way.");
    await openAccount(tx, { email, name, passwordHash: null, isWelcome });
    const user = await findUserByEmail(tx, email);
    invariant(user !== null, "account opened without its user");
    const identity = { providerId: provider.id, subject: claims.subject, userId: user.id, createdAt: clock.now() };
    if (!(await insertIdentity(tx, identity))) throw createElsewhere(provider);
    await admission.admit(tx, { ...person, accountId: user.accountId });
    return user.id;
  });
  logger.info({ user_id: userId }, "signed up");
  return userId;
}

function presentCallback(siteUrl: string, { id }: OidcProvider): string {
  return `${siteUrl}/console/api/sign-in/provider/${id}/callback`;
}

function createUnsigned({ name }: OidcProvider): AppError {
  return new AppError("wrong_credentials", `${name} did not sign you in. Start again, or choose another method.`);
}

function createElsewhere({ name }: OidcProvider): AppError {
  return new AppError(
    "wrong_credentials",
    `This ${name} account belongs to another account here. Sign in to that account.`,
  );
}
