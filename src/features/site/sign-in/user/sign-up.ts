import type { UserId } from "../../../../lib/ids.ts";
import { invariant } from "../../../../lib/invariant.ts";
import { type Database, inTransaction } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { requireGoodPassword } from "../password/check-password.ts";
import type { Passwords } from "../password/create-passwords.ts";
import type { Browser } from "../session/sessions.ts";
import type { SignInDependencies } from "../sign-in-dependencies.ts";
import { composeKnownAddressMail, composeVerifyMail } from "../sign-in-mails.ts";
import { limitLinks, limitMails } from "../throttle.ts";
import { requireEmail } from "./check-email.ts";
import { normalizeMailbox } from "./normalize-mailbox.ts";
import { findUserByEmail } from "./user-store.ts";
import { hashToken, issueToken, makeToken } from "./user-token.ts";
import { deleteTokensByEmail, findToken, findTokenByEmail, type StoredToken, takeToken } from "./user-token-store.ts";

const signUpMs = 24 * 60 * 60_000;

/** A pending sign-up. Nothing else exists until its address is verified. */
type SignUpDetails = {
  email: string;
  passwordHash: string;
  /** Hash of the cookie in the browser that signed up. */
  browserHash: string;
  inviteHash: string | null;
};

type SignUpRequest = { email: string; password: string; invite: string | null; address: string };

/**
 * Starts a sign-up. Response and time are the same whether or not the address has an account; only the mail differs.
 * Returns a cookie token that identifies the browser.
 */
export async function signUp(dependencies: SignInDependencies, request: SignUpRequest): Promise<string> {
  const { database, randomBytes, beginAttempt, passwords, background, mailer, siteUrl } = dependencies;
  const { email, password, address } = request;
  requireEmail(email);
  requireGoodPassword(password, { email, param: "password" });
  const inviteHash = await requireInvitation(dependencies, request);
  await beginAttempt(limitMails(email, address));
  if (inviteHash === null) await dependencies.admission.check({ mailbox: normalizeMailbox(email), address });
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

/** Resends the mail of a pending sign-up. The response does not reveal whether there is one. */
export async function resendLink(
  dependencies: SignInDependencies,
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
 * Opens the account of a sign-up and a session, and returns its token. In the browser that signed up, the link is
 * enough. Elsewhere the password is required: otherwise someone could sign up with a stranger's address, and the
 * stranger's click would hand them a verified account.
 */
export async function verifyEmail(dependencies: SignInDependencies, request: VerifyRequest): Promise<string> {
  const { database, clock, logger, beginAttempt, passwords, sessions, mayWelcome } = dependencies;
  const { browser } = request;
  const attempt = await beginAttempt(limitLinks(browser.address));
  const hash = hashToken(request.token);
  const found = await findToken(database, { kind: "sign-up", hash, now: clock.now() });
  if (found === null) throw createInvalidLink();
  await requireSigner(passwords, found, request);
  const { email, inviteHash } = found.details as SignUpDetails;
  const { address } = browser;
  // An operator has invited the others.
  const person = inviteHash === null ? { mailbox: normalizeMailbox(email), address } : null;
  if (person !== null) await dependencies.admission.check(person);
  const isWelcome = await mayWelcome(browser.address);
  const { userId, sessionToken } = await inTransaction(database, async (tx) => {
    const id = await openFromToken(tx, dependencies, { hash, isWelcome, person });
    return { userId: id, sessionToken: await sessions.open(tx, { userId: id, browser, stillHolds: () => true }) };
  });
  invariant(sessionToken !== null, "user deleted during sign-up");
  await attempt.succeed();
  logger.info({ user_id: userId }, "signed up");
  return sessionToken;
}

async function openFromToken(
  tx: Database,
  { clock, openAccount, admission }: SignInDependencies,
  {
    hash,
    isWelcome,
    person,
  }: { hash: Buffer; isWelcome: boolean; person: { mailbox: string; address: string } | null },
): Promise<UserId> {
  const now = clock.now();
  const token = await takeToken(tx, { kind: "sign-up", hash, now });
  if (token === null) throw createInvalidLink();
  const { email, passwordHash, inviteHash } = token.details as SignUpDetails;
  if (inviteHash !== null) {
    const invite = await takeToken(tx, { kind: "invite", hash: Buffer.from(inviteHash, "base64url"), now });
    if (invite === null) throw createClosed("The invitation was already used or has expired. Ask for a new one.");
  }
  if ((await findUserByEmail(tx, email)) !== null) {
    throw new AppError("invalid_token", "This address already has an account. Sign in.", { param: "token" });
  }
  await openAccount(tx, { email, name: null, passwordHash, isWelcome });
  const user = await findUserByEmail(tx, email);
  invariant(user !== null, "account opened without its user");
  if (person !== null) await admission.admit(tx, { ...person, accountId: user.accountId });
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
    const message = "You signed up in another browser. Enter the password that you chose there.";
    throw new AppError("wrong_credentials", message, { param: "password" });
  }
  await passwords.require(
    user,
    { password, address, param: "password" },
    "The password is wrong. Enter the one that you chose at sign-up.",
  );
}

async function sendLink(dependencies: SignInDependencies, details: SignUpDetails): Promise<void> {
  const { database, mailer, siteUrl } = dependencies;
  const { email } = details;
  const token = await inTransaction(database, async (tx) => {
    // Only the newest link works.
    await deleteTokensByEmail(tx, "sign-up", email);
    return await issueToken(tx, dependencies, { kind: "sign-up", validMs: signUpMs, email, details });
  });
  mailer.send(composeVerifyMail({ to: email, url: `${siteUrl}/verify-email?token=${token}` }));
}

/** The invitation is consumed when the account is opened. */
async function requireInvitation(
  { database, clock, signUp: policy }: SignInDependencies,
  { email, invite }: SignUpRequest,
): Promise<Buffer | null> {
  if (policy === "open") return null;
  if (policy === "closed") throw createClosed("Sign-up is closed on this site.");
  if (invite === null) throw createClosed("Sign-up is by invitation only. Open the link in your invitation.");
  const hash = hashToken(invite);
  const token = await findToken(database, { kind: "invite", hash, now: clock.now() });
  if (token === null) throw createClosed("The invitation was already used or has expired. Ask for a new one.");
  if (token.email !== email.toLowerCase()) {
    throw new AppError("invalid_parameter", "The invitation is for another e-mail address. Use the invited one.", {
      param: "email",
    });
  }
  return hash;
}

function createClosed(message: string): AppError {
  return new AppError("sign_up_closed", message);
}

function createInvalidLink(): AppError {
  return new AppError("invalid_token", "This link was already used or has expired. Sign up again.", { param: "token" });
}
