import type { SiteSession } from "../../../../lib/console-session.ts";
import { inTransaction } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { appendOwnAction } from "../../../audit/index.ts";
import { deleteSessions } from "../session/session-store.ts";
import { getSessionUser } from "../session/sessions.ts";
import type { SignInDependencies } from "../sign-in-dependencies.ts";
import { composeResetMail } from "../sign-in-mails.ts";
import { limitLinks, limitMails } from "../throttle.ts";
import { requireEmail } from "../user/check-email.ts";
import type { User } from "../user/user.ts";
import { findUser, findUserByEmail, lockUser, updateEmailVerified, updatePassword } from "../user/user-store.ts";
import { hashToken, issueToken, type LinkDependencies } from "../user/user-token.ts";
import { deleteTokensOfUser, findToken, takeToken } from "../user/user-token-store.ts";
import { requireGoodPassword } from "./check-password.ts";
import type { Passwords } from "./create-passwords.ts";

const mailedLinkMs = 60 * 60_000;
const handedLinkMs = 7 * 24 * 60 * 60_000;

/** Mails a reset link if the address has an account. The response does not reveal whether it has. */
export async function forgetPassword(
  dependencies: SignInDependencies,
  { email, address }: { email: string; address: string },
) {
  requireEmail(email);
  await dependencies.beginAttempt(limitMails(email, address));
  dependencies.background.begin("link for a new password", async () => {
    const user = await findUserByEmail(dependencies.database, email);
    if (user === null) return;
    const url = await createResetLink(dependencies, user, "mailed");
    dependencies.mailer.send(composeResetMail({ to: user.email, url }));
  });
}

/** Creates a reset link and voids earlier ones. Links from an operator live longer. */
export async function createResetLink(
  dependencies: LinkDependencies,
  user: User,
  way: "mailed" | "handed-over",
): Promise<string> {
  const validMs = way === "mailed" ? mailedLinkMs : handedLinkMs;
  const token = await inTransaction(dependencies.database, async (tx) => {
    await deleteTokensOfUser(tx, ["reset-password"], user.id);
    const link = { kind: "reset-password", validMs, userId: user.id, details: { way } } as const;
    return await issueToken(tx, dependencies, link);
  });
  return `${dependencies.siteUrl}/reset-password?token=${token}`;
}

/** Sets a password by link and ends all sessions of the user. */
export async function resetPassword(
  { database, clock, beginAttempt, passwords, notifyChange }: SignInDependencies,
  { token, password, address }: { token: string; password: string; address: string },
): Promise<void> {
  const attempt = await beginAttempt(limitLinks(address));
  const place = { kind: "reset-password", hash: hashToken(token), now: clock.now() } as const;
  const found = await findToken(database, place);
  const user = found?.userId == null ? null : await findUser(database, found.userId);
  if (user === null) throw createInvalidLink();
  requireGoodPassword(password, { email: user.email, param: "password" });
  const passwordHash = await passwords.hash(password);
  await inTransaction(database, async (tx) => {
    await lockUser(tx, user.id);
    const taken = await takeToken(tx, place);
    if (taken === null) throw createInvalidLink();
    await updatePassword(tx, user.id, passwordHash);
    // A mailed link also verifies the address.
    if (taken.details.way === "mailed") await updateEmailVerified(tx, user.id, place.now);
    await deleteTokensOfUser(tx, ["second-factor"], user.id);
    await deleteSessions(tx, { userId: user.id, exceptId: null });
    const owner = { ...user, userId: user.id, from: { address, requestId: null } };
    await appendOwnAction(tx, owner, { action: "password.reset", subject: user.id });
  });
  await attempt.succeed();
  notifyChange({ userId: user.id, email: user.email }, "The password was reset");
}

type PasswordChange = { currentPassword: string | null; newPassword: string; address: string };

/** Ends all other sessions. Returns a new cookie token. */
export async function changePassword(
  { database, passwords, sessions, notifyChange }: SignInDependencies,
  session: SiteSession,
  change: PasswordChange,
): Promise<string> {
  const user = await getSessionUser(database, session);
  requireGoodPassword(change.newPassword, { email: user.email, param: "new_password" });
  // Users of other sign-in methods have no password yet.
  if (user.passwordHash !== null) await requirePassword(passwords, user, change);
  const passwordHash = await passwords.hash(change.newPassword);
  const sessionToken = await inTransaction(database, async (tx) => {
    await lockUser(tx, user.id);
    await updatePassword(tx, user.id, passwordHash);
    await deleteTokensOfUser(tx, ["reset-password", "second-factor"], user.id);
    await deleteSessions(tx, { userId: user.id, exceptId: session.id });
    const { token } = await sessions.renew(tx, session.id, { after: "change", isTwoStep: false });
    await appendOwnAction(tx, session, { action: "password.changed", subject: user.id });
    return token;
  });
  notifyChange(session, "The password was changed");
  return sessionToken;
}

async function requirePassword(passwords: Passwords, user: User, { currentPassword, address }: PasswordChange) {
  const param = "current_password";
  if (currentPassword === null) throw new AppError("missing_parameter", `\`${param}\` is required.`, { param });
  await passwords.require(user, { password: currentPassword, address, param }, "The password is wrong.");
}

function createInvalidLink(): AppError {
  return new AppError("invalid_token", "This link was already used or has expired. Request a new one.", {
    param: "token",
  });
}
