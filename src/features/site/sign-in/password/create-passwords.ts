import { createSemaphore } from "../../../../lib/semaphore.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { hashPassword, standInHash, verifyPassword } from "./password.ts";

/** Hashes and checks passwords, a few at a time: each takes 19 MiB and a processor for a moment. */
export type Passwords = {
  hash(password: string): Promise<string>;
  /** With `null`, where there is no password to compare with, it takes as long and says no. */
  isRight(passwordHash: string | null, password: string): Promise<boolean>;
};

const atOnceMax = 2;
const waitingMax = 64;

export function createPasswords(): Passwords {
  const semaphore = createSemaphore(atOnceMax);
  let underWay = 0;

  async function runLimited<T>(work: () => Promise<T>): Promise<T> {
    if (underWay >= atOnceMax + waitingMax) {
      throw new AppError("overloaded", "Too many people are signing in at the moment. Try again shortly.");
    }
    underWay += 1;
    try {
      return await semaphore.run(work);
    } finally {
      underWay -= 1;
    }
  }

  return {
    hash: (password) => runLimited(() => hashPassword(password)),
    async isRight(passwordHash, password) {
      const isRight = await runLimited(() => verifyPassword(passwordHash ?? standInHash, password));
      return isRight && passwordHash !== null;
    },
  };
}
