import type { Clock } from "../../../../lib/clock.ts";
import type { UserId } from "../../../../lib/ids.ts";
import { invariant } from "../../../../lib/invariant.ts";
import { type Database, inTransaction } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import type { Logger } from "../../../../platform/observability/logger.ts";
import type { AnnounceChange } from "../announce-change.ts";
import { type Browser, requireLiveSession, type Sessions, type StillHolds } from "../session/sessions.ts";
import type { SiteSession } from "../session/site-session.ts";
import { type BeginAttempt, limitBeginnings } from "../throttle.ts";
import { requireEmail } from "../user/check-email.ts";
import { issueToken, type TokenDependencies } from "../user/issue-token.ts";
import type { OpenAccount } from "../user/open-account.ts";
import type { SignUpPolicy } from "../user/sign-up.ts";
import { findUserByEmail, lockUser } from "../user/user-store.ts";
import { hashToken, makeToken } from "../user/user-token.ts";
import { takeToken } from "../user/user-token-store.ts";
import type { MayWelcome } from "../user/welcome.ts";
import { findIdentityOwner, insertIdentity } from "./identity-store.ts";
import type { OidcProvider, ProviderClaims } from "./oidc-provider.ts";

export const providerMs = 10 * 60_000;

export type BeginningDependencies = TokenDependencies & {
  database: Database;
  beginAttempt: BeginAttempt;
  siteUrl: string;
};

export type CallbackDependencies = {
  database: Database;
  clock: Clock;
  logger: Logger;
  sessions: Sessions;
  announceChange: AnnounceChange;
  siteUrl: string;
  signUp: SignUpPolicy;
  mayWelcome: MayWelcome;
  openAccount: OpenAccount;
};

type ProviderDetails = { providerId: string; nonce: string; verifier: string; next: string };

type Beginning = { next: string; session: SiteSession | null; address: string; signal: AbortSignal };

/** Where to send the browser, and the text of the cookie by which it is known when it comes back. */
export async function beginProviderSignIn(
  { database, clock, randomBytes, beginAttempt, siteUrl }: BeginningDependencies,
  provider: OidcProvider,
  { next, session, address, signal }: Beginning,
): Promise<{ location: string; stateToken: string }> {
  await beginAttempt(limitBeginnings(address));
  const [state, nonce, verifier] = [0, 1, 2].map(() => makeToken(randomBytes));
  invariant(state !== undefined && nonce !== undefined && verifier !== undefined, "three were made");
  const redirectUri = presentCallback(siteUrl, provider);
  const question = { redirectUri, state: state.text, nonce: nonce.text, verifier: verifier.text };
  const location = await provider.presentEntry(question, signal);
  const details: ProviderDetails = { providerId: provider.id, nonce: nonce.text, verifier: verifier.text, next };
  const userId = session?.userId ?? null;
  const kept = { kind: "provider", validMs: providerMs, userId, details, token: state } as const;
  await issueToken(database, { clock, randomBytes }, kept);
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
  dependencies: CallbackDependencies,
  provider: OidcProvider,
  callback: Callback,
): Promise<{ next: string; sessionToken: string | null }> {
  const { database, logger, sessions, siteUrl } = dependencies;
  const { beginning, details } = await takeBeginning(dependencies, provider, callback);
  const { code, error, iss } = callback.query;
  // RFC 9207: another provider's answer must not be taken for this one's.
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

/** What this browser began with this provider, once. */
async function takeBeginning(
  { database, clock }: CallbackDependencies,
  provider: OidcProvider,
  { query, stateToken }: Callback,
) {
  const hash = hashToken(stateToken ?? "");
  const isOurs = stateToken !== null && query.state === stateToken;
  const beginning = isOurs ? await takeToken(database, { kind: "provider", hash, now: clock.now() }) : null;
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
  { database, clock, announceChange }: CallbackDependencies,
  { provider, claims, session }: { provider: OidcProvider; claims: ProviderClaims; session: SiteSession },
): Promise<void> {
  const now = clock.now();
  if (session.freshUntil.getTime() <= now.getTime()) {
    throw new AppError("reauthentication_required", "Prove that it is you, then connect the provider again.");
  }
  if (!claims.isEmailVerified || claims.email?.toLowerCase() !== session.email.toLowerCase()) {
    const message = `${provider.name} knows you by another address, or has not proven it. Only your own can be connected.`;
    throw new AppError("wrong_credentials", message);
  }
  const identity = { providerId: provider.id, subject: claims.subject, userId: session.userId, createdAt: now };
  await inTransaction(database, async (tx) => {
    await lockUser(tx, session.userId);
    // Whoever was signed out meanwhile leaves no way in behind.
    await requireLiveSession(tx, session.id, clock.now());
    if (!(await insertIdentity(tx, identity))) throw createElsewhere(provider);
  });
  announceChange(session, `${provider.name} was connected as a way to sign in`);
}

/** An account for somebody new. Never one that exists: whose address it is there, only its owner can say. */
async function openWithProvider(
  { database, clock, logger, signUp, mayWelcome, openAccount }: CallbackDependencies,
  provider: OidcProvider,
  { claims, address }: { claims: ProviderClaims; address: string },
): Promise<UserId> {
  const { email, name } = claims;
  if (email === null || !claims.isEmailVerified) {
    throw new AppError(
      "wrong_credentials",
      `${provider.name} has not proven your e-mail address. Sign up with it here.`,
    );
  }
  requireEmail(email);
  const isWelcome = signUp === "open" && (await mayWelcome(address));
  const userId = await inTransaction(database, async (tx) => {
    if ((await findUserByEmail(tx, email)) !== null) {
      const message = `There is an account for your address already. Sign in to it, then connect ${provider.name} in the settings.`;
      throw new AppError("wrong_credentials", message);
    }
    if (signUp !== "open") throw new AppError("sign_up_closed", "This site takes no new accounts this way.");
    await openAccount(tx, { email, name, passwordHash: null, isWelcome });
    const user = await findUserByEmail(tx, email);
    invariant(user !== null, "an account was opened without its person");
    const identity = { providerId: provider.id, subject: claims.subject, userId: user.id, createdAt: clock.now() };
    if (!(await insertIdentity(tx, identity))) throw createElsewhere(provider);
    return user.id;
  });
  logger.info({ user_id: userId }, "signed up");
  return userId;
}

function presentCallback(siteUrl: string, { id }: OidcProvider): string {
  return `${siteUrl}/console/api/sign-in/provider/${id}/callback`;
}

function createUnsigned({ name }: OidcProvider): AppError {
  return new AppError("wrong_credentials", `${name} did not sign you in. Begin again, or choose another way.`);
}

function createElsewhere({ name }: OidcProvider): AppError {
  return new AppError("wrong_credentials", `This person of ${name} belongs to another account here.`);
}
