import { AppError } from "../../../../platform/errors/app-error.ts";
import { beginSecondFactor } from "../second-factor/second-factor.ts";
import { type Browser, openSession, type StillHolds } from "../session/sessions.ts";
import type { SignInParts } from "../sign-in-parts.ts";
import { beginAttempt, limitPasswordGuesses } from "../throttle.ts";
import { hasSecondFactor, type User } from "../user/user.ts";
import { findUserByEmail } from "../user/user-store.ts";
import { findTokenByEmail } from "../user/user-token-store.ts";

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
  const isRight = await parts.passwords.isRight(passwordHash, password);
  const outcome = isRight ? await enter(parts, user, browser) : null;
  if (outcome === null) {
    parts.logger.info({ user_id: user?.id ?? null, address: browser.address }, "a sign-in was refused");
    throw new AppError("wrong_credentials", "The e-mail address or the password is not right.");
  }
  await attempt.succeed();
  return outcome;
}

/** `null` when the password that was right a moment ago has been replaced meanwhile. */
async function enter(parts: SignInParts, user: User | null, browser: Browser): Promise<PasswordOutcome | null> {
  if (user === null) return { kind: "verify-email" };
  const stillHolds: StillHolds = (_tx, now) => now.passwordHash === user.passwordHash;
  if (hasSecondFactor(user)) {
    const factorToken = await beginSecondFactor(parts, { userId: user.id, stillHolds });
    return factorToken === null ? null : { kind: "second-factor", factorToken };
  }
  const sessionToken = await openSession(parts, { userId: user.id, browser, stillHolds });
  if (sessionToken === null) return null;
  parts.logger.info({ user_id: user.id, method: "password", address: browser.address }, "signed in");
  return { kind: "signed-in", sessionToken };
}
