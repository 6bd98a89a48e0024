import { inTransaction } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { announceChange } from "../announce-change.ts";
import { getSessionUser } from "../session/get-session-user.ts";
import { deleteSessions } from "../session/session-store.ts";
import { renewSession } from "../session/sessions.ts";
import type { SiteSession } from "../session/site-session.ts";
import { composeResetMail } from "../sign-in-mails.ts";
import type { SignInParts } from "../sign-in-parts.ts";
import { beginAttempt, limitLinks, limitMails, limitPasswordGuesses } from "../throttle.ts";
import { requireEmail } from "../user/check-email.ts";
import type { User } from "../user/user.ts";
import { findUser, findUserByEmail, lockUser, updateEmailVerified, updatePassword } from "../user/user-store.ts";
import { hashToken, makeToken } from "../user/user-token.ts";
import { deleteTokensOfUser, findToken, insertToken, takeToken } from "../user/user-token-store.ts";
import { requireGoodPassword } from "./check-password.ts";

const mailedLinkMs = 60 * 60_000;
const handedLinkMs = 7 * 24 * 60 * 60_000;

type LinkParts = Pick<SignInParts, "database" | "clock" | "randomBytes" | "siteUrl">;

/** Mails a link for a new password, if the address is somebody's. Whoever asks does not learn that. */
export async function forgetPassword(parts: SignInParts, { email, address }: { email: string; address: string }) {
  requireEmail(email);
  await beginAttempt(parts, limitMails(email, address));
  parts.background.begin("link for a new password", async () => {
    const user = await findUserByEmail(parts.database, email);
    if (user === null) return;
    const url = await createResetLink(parts, user, "mailed");
    parts.mailer.send(composeResetMail({ to: user.email, url }));
  });
}

/** Makes a link for a new password; those from before are void. One that an operator hands over lives longer. */
export async function createResetLink(parts: LinkParts, user: User, way: "mailed" | "handed-over"): Promise<string> {
  const token = makeToken(parts.randomBytes);
  const now = parts.clock.now();
  await inTransaction(parts.database, async (tx) => {
    await deleteTokensOfUser(tx, ["reset-password"], user.id);
    await insertToken(tx, {
      hash: token.hash,
      kind: "reset-password",
      email: null,
      userId: user.id,
      details: { way },
      createdAt: now,
      expiresAt: new Date(now.getTime() + (way === "mailed" ? mailedLinkMs : handedLinkMs)),
    });
  });
  return `${parts.siteUrl}/reset-password?token=${token.text}`;
}

/** A new password by a link. Everybody who was signed in as this person is signed out. */
export async function resetPassword(
  parts: SignInParts,
  { token, password, address }: { token: string; password: string; address: string },
): Promise<void> {
  const attempt = await beginAttempt(parts, limitLinks(address));
  const place = { kind: "reset-password", hash: hashToken(token), now: parts.clock.now() } as const;
  const found = await findToken(parts.database, place);
  const user = found?.userId == null ? null : await findUser(parts.database, found.userId);
  if (user === null) throw createInvalidLink();
  requireGoodPassword(password, { email: user.email, param: "password" });
  const passwordHash = await parts.passwords.hash(password);
  await inTransaction(parts.database, async (tx) => {
    await lockUser(tx, user.id);
    const taken = await takeToken(tx, place);
    if (taken === null) throw createInvalidLink();
    await updatePassword(tx, user.id, passwordHash);
    // A link that came by mail also proves the address.
    if (taken.details.way === "mailed") await updateEmailVerified(tx, user.id, place.now);
    await deleteTokensOfUser(tx, ["second-factor"], user.id);
    await deleteSessions(tx, { userId: user.id, exceptId: null });
  });
  await attempt.succeed();
  announceChange(parts, { userId: user.id, email: user.email }, "The password was reset");
}

type PasswordChange = { currentPassword: string | null; newPassword: string; address: string };

/** Everybody else is signed out. Answers the text of a new cookie. */
export async function changePassword(parts: SignInParts, session: SiteSession, change: PasswordChange) {
  const user = await getSessionUser(parts.database, session);
  requireGoodPassword(change.newPassword, { email: user.email, param: "new_password" });
  // Whoever signs in by other means has no password to begin with.
  if (user.passwordHash !== null) await requirePassword(parts, user, change);
  const passwordHash = await parts.passwords.hash(change.newPassword);
  const sessionToken = await inTransaction(parts.database, async (tx) => {
    await lockUser(tx, user.id);
    await updatePassword(tx, user.id, passwordHash);
    await deleteTokensOfUser(tx, ["reset-password", "second-factor"], user.id);
    await deleteSessions(tx, { userId: user.id, exceptId: session.id });
    return (await renewSession({ ...parts, database: tx }, session.id)).token;
  });
  announceChange(parts, session, "The password was changed");
  return sessionToken;
}

async function requirePassword(parts: SignInParts, user: User, { currentPassword, address }: PasswordChange) {
  if (currentPassword === null) {
    throw new AppError("missing_parameter", "`current_password` is required.", { param: "current_password" });
  }
  const attempt = await beginAttempt(parts, limitPasswordGuesses(user.email, address));
  if (!(await parts.passwords.isRight(user.passwordHash, currentPassword))) {
    throw new AppError("wrong_credentials", "This is not your password.", { param: "current_password" });
  }
  await attempt.succeed();
}

function createInvalidLink(): AppError {
  return new AppError("invalid_token", "This link was used already, or its time is over. Ask for a new one.", {
    param: "token",
  });
}
