import type { UserId } from "../../../../lib/ids.ts";
import { invariant } from "../../../../lib/invariant.ts";
import { type Database, inTransaction } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import type { Mailer } from "../../../../platform/mail/create-mailer.ts";
import type { Logger } from "../../../../platform/observability/logger.ts";
import type { BackgroundWork } from "../background-work.ts";
import { requireGoodPassword } from "../password/check-password.ts";
import type { Passwords } from "../password/create-passwords.ts";
import type { Browser, Sessions } from "../session/sessions.ts";
import { composeKnownAddressMail, composeVerifyMail } from "../sign-in-mails.ts";
import { type BeginAttempt, limitLinks, limitMails } from "../throttle.ts";
import { requireEmail } from "./check-email.ts";
import { issueToken, type TokenDependencies } from "./issue-token.ts";
import type { OpenAccount } from "./open-account.ts";
import { findUserByEmail } from "./user-store.ts";
import { hashToken, makeToken } from "./user-token.ts";
import { deleteTokensByEmail, findToken, findTokenByEmail, type StoredToken, takeToken } from "./user-token-store.ts";
import type { MayWelcome } from "./welcome.ts";

const signUpMs = 24 * 60 * 60_000;

export type SignUpPolicy = "open" | "invite" | "closed";

export type SignUpDependencies = TokenDependencies & {
  database: Database;
  logger: Logger;
  beginAttempt: BeginAttempt;
  passwords: Passwords;
  sessions: Sessions;
  /** For what whoever asks must not be able to time. */
  background: BackgroundWork;
  mailer: Pick<Mailer, "send">;
  siteUrl: string;
  signUp: SignUpPolicy;
  mayWelcome: MayWelcome;
  openAccount: OpenAccount;
};

/** What is kept of a sign-up until its address is proven. Nothing else of it exists before. */
type SignUpDetails = {
  email: string;
  passwordHash: string;
  /** Of the cookie in the browser that signed up. */
  browserHash: string;
  inviteHash: string | null;
};

type SignUpRequest = { email: string; password: string; invite: string | null; address: string };

/**
 * Begins a sign-up. What the caller sees, and how long it takes, is the same whether the address has an account or not:
 * only the mail differs. Answers the text of a cookie by which the browser is known again.
 */
export async function signUp(dependencies: SignUpDependencies, request: SignUpRequest): Promise<string> {
  const { database, randomBytes, beginAttempt, passwords, background, mailer, siteUrl } = dependencies;
  const { email, password, address } = request;
  requireEmail(email);
  requireGoodPassword(password, { email, param: "password" });
  const inviteHash = await requireInvitation(dependencies, request);
  await beginAttempt(limitMails(email, address));
  const passwordHash = await passwords.hash(password);
  const browser = makeToken(randomBytes);
  const details: SignUpDetails = {
    email,
    passwordHash,
    browserHash: browser.hash.toString("base64url"),
    inviteHash: inviteHash?.toString("base64url") ?? null,
  };
  background.begin("sign-up", async () => {
    if ((await findUserByEmail(database, email)) === null) await sendLink(dependencies, details);
    else mailer.send(composeKnownAddressMail({ to: email, signInUrl: `${siteUrl}/sign-in` }));
  });
  return browser.text;
}

/** Another mail for a sign-up that waits for its link. Whoever asks does not learn whether there is one. */
export async function resendLink(
  dependencies: SignUpDependencies,
  { email, address }: { email: string; address: string },
) {
  const { database, clock, beginAttempt, background } = dependencies;
  requireEmail(email);
  await beginAttempt(limitMails(email, address));
  background.begin("resend of a sign-up's mail", async () => {
    const waiting = await findTokenByEmail(database, { kind: "sign-up", email, now: clock.now() });
    if (waiting !== null) await sendLink(dependencies, waiting.details as SignUpDetails);
  });
}

type VerifyRequest = { token: string; password: string | null; browserToken: string | null; browser: Browser };

/**
 * Opens the account of a sign-up whose link was opened, and a session of it, of which it answers the cookie's text. The link alone is enough in the browser that signed up. Anywhere
 * else the password is asked for too: or somebody could sign up with a stranger's address and a password of their own,
 * and the stranger's click would hand them the account.
 */
export async function verifyEmail(dependencies: SignUpDependencies, request: VerifyRequest): Promise<string> {
  const { database, clock, logger, beginAttempt, passwords, sessions, mayWelcome } = dependencies;
  const { browser } = request;
  const attempt = await beginAttempt(limitLinks(browser.address));
  const hash = hashToken(request.token);
  const found = await findToken(database, { kind: "sign-up", hash, now: clock.now() });
  if (found === null) throw createInvalidLink();
  await requireSigner(passwords, found, request);
  const isWelcome = await mayWelcome(browser.address);
  const { userId, sessionToken } = await inTransaction(database, async (tx) => {
    const id = await openFromToken(tx, dependencies, { hash, isWelcome });
    return { userId: id, sessionToken: await sessions.open(tx, { userId: id, browser, stillHolds: () => true }) };
  });
  invariant(sessionToken !== null, "a person was gone before they were there");
  await attempt.succeed();
  logger.info({ user_id: userId }, "signed up");
  return sessionToken;
}

async function openFromToken(
  tx: Database,
  { clock, openAccount }: SignUpDependencies,
  { hash, isWelcome }: { hash: Buffer; isWelcome: boolean },
): Promise<UserId> {
  const now = clock.now();
  const token = await takeToken(tx, { kind: "sign-up", hash, now });
  if (token === null) throw createInvalidLink();
  const { email, passwordHash, inviteHash } = token.details as SignUpDetails;
  if (inviteHash !== null) {
    const invite = await takeToken(tx, { kind: "invite", hash: Buffer.from(inviteHash, "base64url"), now });
    if (invite === null) throw createClosed("The invitation was used already, or its time is over.");
  }
  if ((await findUserByEmail(tx, email)) !== null) {
    throw new AppError("invalid_token", "There is an account for this address already. Sign in.", { param: "token" });
  }
  await openAccount(tx, { email, name: null, passwordHash, isWelcome });
  const user = await findUserByEmail(tx, email);
  invariant(user !== null, "an account was opened without its person");
  return user.id;
}

/** By the cookie of the browser that signed up, or by the password. */
async function requireSigner(
  passwords: Passwords,
  token: StoredToken,
  { browserToken, password, browser: { address } }: VerifyRequest,
): Promise<void> {
  const user = token.details as SignUpDetails;
  if (browserToken !== null && hashToken(browserToken).toString("base64url") === user.browserHash) return;
  if (password === null) {
    const message = "You signed up in another browser. Type the password that you chose there.";
    throw new AppError("wrong_credentials", message, { param: "password" });
  }
  await passwords.require(user, { password, address, param: "password" }, "This is not the password of the sign-up.");
}

async function sendLink(
  { database, clock, randomBytes, mailer, siteUrl }: SignUpDependencies,
  details: SignUpDetails,
): Promise<void> {
  const { email } = details;
  const token = await inTransaction(database, async (tx) => {
    // Only the newest link works.
    await deleteTokensByEmail(tx, "sign-up", email);
    return await issueToken(tx, { clock, randomBytes }, { kind: "sign-up", validMs: signUpMs, email, details });
  });
  mailer.send(composeVerifyMail({ to: email, url: `${siteUrl}/verify-email?token=${token}` }));
}

/** The invitation is used up only when the account is opened. */
async function requireInvitation(
  { database, clock, signUp: policy }: SignUpDependencies,
  { email, invite }: SignUpRequest,
): Promise<Buffer | null> {
  if (policy === "open") return null;
  if (policy === "closed") throw createClosed("This site takes no new accounts.");
  if (invite === null) throw createClosed("This site takes new accounts by invitation only. Open the link you got.");
  const hash = hashToken(invite);
  const token = await findToken(database, { kind: "invite", hash, now: clock.now() });
  if (token === null) throw createClosed("The invitation was used already, or its time is over.");
  if (token.email !== email.toLowerCase()) {
    throw new AppError("invalid_parameter", "The invitation is for another e-mail address.", { param: "email" });
  }
  return hash;
}

function createClosed(message: string): AppError {
  return new AppError("sign_up_closed", message);
}

function createInvalidLink(): AppError {
  return new AppError("invalid_token", "This link was used already, or its time is over. Sign up again.", {
    param: "token",
  });
}
