import { AppError } from "../../../../platform/errors/app-error.ts";
import { beginSecondFactor } from "../second-factor/second-factor.ts";
import type { Browser, StillHolds } from "../session/sessions.ts";
import type { SignInDependencies } from "../sign-in-dependencies.ts";
import { limitPasswordGuesses } from "../throttle.ts";
import { hasSecondFactor, type User } from "../user/user.ts";
import { findUserByEmail } from "../user/user-store.ts";
import { findTokenByEmail } from "../user/user-token-store.ts";

type PasswordOutcome =
  | { kind: "signed-in"; sessionToken: string }
  | { kind: "second-factor"; factorToken: string }
  /** The sign-up waits for its mailed link. */
  | { kind: "verify-email" };

/**
 * For a user, a pending sign-up or an unknown address, the same queries and one hash run, so neither text nor time
 * reveals which.
 */
export async function signInWithPassword(
  dependencies: SignInDependencies,
  { email, password, browser }: { email: string; password: string; browser: Browser },
): Promise<PasswordOutcome> {
  const { database, clock, logger, beginAttempt, passwords } = dependencies;
  const attempt = await beginAttempt(limitPasswordGuesses(email, browser.address));
  const [user, waiting] = await Promise.all([
    findUserByEmail(database, email),
    findTokenByEmail(database, { kind: "sign-up", email, now: clock.now() }),
  ]);
  const waitingHash = typeof waiting?.details.passwordHash === "string" ? waiting.details.passwordHash : null;
  const passwordHash = user === null ? waitingHash : user.passwordHash;
  const isRight = await passwords.isRight(passwordHash, password);
  const outcome = isRight ? await enter(dependencies, user, browser) : null;
  if (outcome === null) {
    logger.info({ user_id: user?.id ?? null, address: browser.address }, "sign-in rejected");
    throw new AppError("wrong_credentials", "The e-mail address or password is wrong.");
  }
  await attempt.succeed();
  return outcome;
}

/** `null` if the password was changed meanwhile. */
async function enter(
  dependencies: SignInDependencies,
  user: User | null,
  browser: Browser,
): Promise<PasswordOutcome | null> {
  if (user === null) return { kind: "verify-email" };
  const { database, logger, sessions } = dependencies;
  const stillHolds: StillHolds = (_tx, now) => now.passwordHash === user.passwordHash;
  if (hasSecondFactor(user)) {
    const factorToken = await beginSecondFactor(dependencies, { userId: user.id, stillHolds });
    return factorToken === null ? null : { kind: "second-factor", factorToken };
  }
  const sessionToken = await sessions.open(database, { userId: user.id, browser, stillHolds });
  if (sessionToken === null) return null;
  logger.info({ user_id: user.id, method: "password", address: browser.address }, "signed in");
  return { kind: "signed-in", sessionToken };
}
