import { createSemaphore } from "../../../../lib/semaphore.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { type BeginAttempt, limitPasswordGuesses } from "../throttle.ts";
import { hashPassword, standInHash, verifyPassword } from "./password.ts";

/** Hashes and verifies passwords with a concurrency limit: each takes 19 MiB and CPU time. */
export type Passwords = {
  hash(password: string): Promise<string>;
  /** With `null` (no password to compare) it takes as long and returns false. */
  isRight(passwordHash: string | null, password: string): Promise<boolean>;
  /** Throws the message for a wrong password. Too many guesses are rejected before verifying. */
  require(
    user: PasswordOwner,
    guess: { password: string; address: string; param: string },
    message: string,
  ): Promise<void>;
};

type PasswordOwner = { email: string; passwordHash: string | null };

const atOnceMax = 2;
const waitingMax = 64;

export function createPasswords(beginAttempt: BeginAttempt): Passwords {
  const semaphore = createSemaphore(atOnceMax);
  let underWay = 0;

  async function runLimited<T>(work: () => Promise<T>): Promise<T> {
    if (underWay >= atOnceMax + waitingMax) {
      throw new AppError("overloaded", "Too many sign-ins at the moment. Try again shortly.");
    }
    underWay += 1;
    try {
      return await semaphore.run(work);
    } finally {
      underWay -= 1;
    }
  }

  async function isRight(passwordHash: string | null, password: string): Promise<boolean> {
    const isSame = await runLimited(() => verifyPassword(passwordHash ?? standInHash, password));
    return isSame && passwordHash !== null;
  }

  return {
    hash: (password) => runLimited(() => hashPassword(password)),
    isRight,
    async require(user, { password, address, param }, message) {
      const attempt = await beginAttempt(limitPasswordGuesses(user.email, address));
      if (!(await isRight(user.passwordHash, password))) throw new AppError("wrong_credentials", message, { param });
      await attempt.succeed();
    },
  };
}
