import { AppError } from "../../../platform/errors/app-error.ts";
import { beginSecondFactor } from "./second-factor.ts";
import { type Browser, openSession } from "./sessions.ts";
import type { SignInParts } from "./sign-in-parts.ts";
import { beginAttempt, limitPasswordGuesses } from "./throttle.ts";
import { hasSecondFactor } from "./user.ts";
import { findUserByEmail } from "./user-store.ts";
import { findTokenByEmail } from "./user-token-store.ts";

export type PasswordOutcome =
  | { kind: "signed-in"; sessionToken: string }
  | { kind: "second-factor"; factorToken: string }
  /** The sign-up waits for the link in its mail. */
  | { kind: "verify-email" };

/**
 * Whether there is a person, a sign-up that waits, or nobody at the address: the same questions are asked, and one
 * password is hashed, so that neither words nor time tell which it was.
 */
export async function signInWithPassword(
  parts: SignInParts,
  { email, password, browser }: { email: string; password: string; browser: Browser },
): Promise<PasswordOutcome> {
  const attempt = await beginAttempt(parts, limitPasswordGuesses(email, browser.address));
  const [user, waiting] = await Promise.all([
    findUserByEmail(parts.database, email),
    findTokenByEmail(parts.database, { kind: "sign-up", email, now: parts.clock.now() }),
  ]);
  const waitingHash = typeof waiting?.details.passwordHash === "string" ? waiting.details.passwordHash : null;
  const passwordHash = user === null ? waitingHash : user.passwordHash;
  if (!(await parts.passwords.isRight(passwordHash, password))) {
    parts.logger.info({ user_id: user?.id ?? null, address: browser.address }, "a sign-in was refused");
    throw new AppError("wrong_credentials", "The e-mail address or the password is not right.");
  }
  await attempt.succeed();
  if (user === null) return { kind: "verify-email" };
  if (hasSecondFactor(user)) return { kind: "second-factor", factorToken: await beginSecondFactor(parts, user.id) };
  const sessionToken = await openSession(parts, user.id, browser);
  parts.logger.info({ user_id: user.id, method: "password", address: browser.address }, "signed in");
  return { kind: "signed-in", sessionToken };
}
