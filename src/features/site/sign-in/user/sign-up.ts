import type { UserId } from "../../../../lib/ids.ts";
import { invariant } from "../../../../lib/invariant.ts";
import { type Database, inTransaction } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { requireGoodPassword } from "../password/check-password.ts";
import { type Browser, openSession } from "../session/sessions.ts";
import { composeKnownAddressMail, composeVerifyMail } from "../sign-in-mails.ts";
import type { SignInParts } from "../sign-in-parts.ts";
import { beginAttempt, limitLinks, limitMails, limitPasswordGuesses } from "../throttle.ts";
import { requireEmail } from "./check-email.ts";
import { findUserByEmail } from "./user-store.ts";
import { hashToken, makeToken } from "./user-token.ts";
import {
  deleteTokensByEmail,
  findToken,
  findTokenByEmail,
  insertToken,
  type StoredToken,
  takeToken,
} from "./user-token-store.ts";

const signUpMs = 24 * 60 * 60_000;

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
export async function signUp(parts: SignInParts, request: SignUpRequest): Promise<string> {
  const { email, password, address } = request;
  requireEmail(email);
  requireGoodPassword(password, { email, param: "password" });
  const inviteHash = await requireInvitation(parts, request);
  await beginAttempt(parts, limitMails(email, address));
  const passwordHash = await parts.passwords.hash(password);
  const browser = makeToken(parts.randomBytes);
  const details: SignUpDetails = {
    email,
    passwordHash,
    browserHash: browser.hash.toString("base64url"),
    inviteHash: inviteHash?.toString("base64url") ?? null,
  };
  parts.background.begin("sign-up", async () => {
    if ((await findUserByEmail(parts.database, email)) === null) await sendLink(parts, details);
    else parts.mailer.send(composeKnownAddressMail({ to: email, signInUrl: `${parts.siteUrl}/sign-in` }));
  });
  return browser.text;
}

/** Another mail for a sign-up that waits for its link. Whoever asks does not learn whether there is one. */
export async function resendLink(parts: SignInParts, { email, address }: { email: string; address: string }) {
  requireEmail(email);
  await beginAttempt(parts, limitMails(email, address));
  parts.background.begin("resend of a sign-up's mail", async () => {
    const waiting = await findTokenByEmail(parts.database, { kind: "sign-up", email, now: parts.clock.now() });
    if (waiting !== null) await sendLink(parts, waiting.details as SignUpDetails);
  });
}

type VerifyRequest = { token: string; password: string | null; browserToken: string | null; browser: Browser };

/**
 * Opens the account of a sign-up whose link was opened, and a session of it, of which it answers the cookie's text. The link alone is enough in the browser that signed up. Anywhere
 * else the password is asked for too: or somebody could sign up with a stranger's address and a password of their own,
 * and the stranger's click would hand them the account.
 */
export async function verifyEmail(parts: SignInParts, request: VerifyRequest): Promise<string> {
  const { browser } = request;
  const attempt = await beginAttempt(parts, limitLinks(browser.address));
  const hash = hashToken(request.token);
  const found = await findToken(parts.database, { kind: "sign-up", hash, now: parts.clock.now() });
  if (found === null) throw createInvalidLink();
  await requireSigner(parts, found, request);
  const { userId, sessionToken } = await inTransaction(parts.database, async (tx) => {
    const within = { ...parts, database: tx };
    const id = await openFromToken(parts, tx, hash);
    return { userId: id, sessionToken: await openSession(within, { userId: id, browser, stillHolds: () => true }) };
  });
  invariant(sessionToken !== null, "a person was gone before they were there");
  await attempt.succeed();
  parts.logger.info({ user_id: userId }, "signed up");
  return sessionToken;
}

async function openFromToken(parts: SignInParts, tx: Database, hash: Buffer): Promise<UserId> {
  const now = parts.clock.now();
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
  await parts.openAccount(tx, { email, name: null, passwordHash });
  const user = await findUserByEmail(tx, email);
  invariant(user !== null, "an account was opened without its person");
  return user.id;
}

/** By the cookie of the browser that signed up, or by the password. */
async function requireSigner(parts: SignInParts, token: StoredToken, request: VerifyRequest): Promise<void> {
  const { email, passwordHash, browserHash } = token.details as SignUpDetails;
  const { browserToken, password } = request;
  if (browserToken !== null && hashToken(browserToken).toString("base64url") === browserHash) return;
  if (password === null) {
    const message = "You signed up in another browser. Type the password that you chose there.";
    throw new AppError("wrong_credentials", message, { param: "password" });
  }
  const attempt = await beginAttempt(parts, limitPasswordGuesses(email, request.browser.address));
  if (!(await parts.passwords.isRight(passwordHash, password))) {
    throw new AppError("wrong_credentials", "This is not the password of the sign-up.", { param: "password" });
  }
  await attempt.succeed();
}

async function sendLink(parts: SignInParts, details: SignUpDetails): Promise<void> {
  const token = makeToken(parts.randomBytes);
  const now = parts.clock.now();
  await inTransaction(parts.database, async (tx) => {
    // Only the newest link works.
    await deleteTokensByEmail(tx, "sign-up", details.email);
    await insertToken(tx, {
      hash: token.hash,
      kind: "sign-up",
      email: details.email,
      userId: null,
      details,
      createdAt: now,
      expiresAt: new Date(now.getTime() + signUpMs),
    });
  });
  const url = `${parts.siteUrl}/verify-email?token=${token.text}`;
  parts.mailer.send(composeVerifyMail({ to: details.email, url }));
}

/** The invitation is used up only when the account is opened. */
async function requireInvitation(parts: SignInParts, { email, invite }: SignUpRequest): Promise<Buffer | null> {
  if (parts.signUp === "open") return null;
  if (parts.signUp === "closed") throw createClosed("This site takes no new accounts.");
  if (invite === null) throw createClosed("This site takes new accounts by invitation only. Open the link you got.");
  const hash = hashToken(invite);
  const token = await findToken(parts.database, { kind: "invite", hash, now: parts.clock.now() });
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
