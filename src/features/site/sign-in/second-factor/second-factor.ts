import { createHmac } from "node:crypto";
import type { UserId } from "../../../../lib/ids.ts";
import { invariant } from "../../../../lib/invariant.ts";
import { openSecret } from "../../../../platform/config/seal-secret.ts";
import type { Database } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { type Browser, type StillHolds, withHeldProof } from "../session/sessions.ts";
import type { FactorKeys, SignInDependencies } from "../sign-in-dependencies.ts";
import { limitCodeGuesses } from "../throttle.ts";
import type { User } from "../user/user.ts";
import { findUser } from "../user/user-store.ts";
import { hashToken, issueToken } from "../user/user-token.ts";
import { findToken, takeToken } from "../user/user-token-store.ts";
import { deleteBackupCode, updateTotpStep } from "./second-factor-store.ts";
import { findTotpStep } from "./totp.ts";

export const secondFactorMs = 10 * 60_000;

/** Stores that the password was right. Returns a cookie token, or `null` if the password has changed. */
export async function beginSecondFactor(
  dependencies: SignInDependencies,
  proof: { userId: UserId; stillHolds: StillHolds },
): Promise<string | null> {
  const { userId } = proof;
  return await withHeldProof(dependencies.database, proof, async (tx) =>
    issueToken(tx, dependencies, { kind: "second-factor", validMs: secondFactorMs, userId }),
  );
}

type FactorRequest = {
  factorToken: string | null;
  method: "totp" | "backup-code";
  code: string;
  browser: Browser;
};

/** The second step of a password sign-in. Returns the session token. */
export async function signInWithCode(dependencies: SignInDependencies, request: FactorRequest): Promise<string> {
  const { database, clock, logger, sessions } = dependencies;
  const { factorToken, method, code, browser } = request;
  const place = { kind: "second-factor", hash: hashToken(factorToken ?? ""), now: clock.now() } as const;
  const token = factorToken === null ? null : await findToken(database, place);
  const user = token?.userId == null ? null : await findUser(database, token.userId);
  if (user === null) throw createOver();
  await requireCode(dependencies, user, { method, code });
  // A password change deletes the token while it locks the user.
  const stillHolds: StillHolds = async (tx) => (await takeToken(tx, place)) !== null;
  const sessionToken = await sessions.open(database, { userId: user.id, browser, stillHolds, isTwoStep: true });
  if (sessionToken === null) throw createOver();
  logger.info({ user_id: user.id, method, address: browser.address }, "signed in");
  return sessionToken;
}

/** Consumes a code of the user, or throws. */
export async function requireCode(
  { database, clock, logger, beginAttempt, keys }: SignInDependencies,
  user: User,
  { method, code }: { method: "totp" | "backup-code"; code: string },
): Promise<void> {
  const attempt = await beginAttempt(limitCodeGuesses(user.id));
  const guess = { user, code, keys };
  const isRight = await (method === "totp"
    ? spendTotpCode(database, guess, clock.now())
    : spendBackupCode(database, guess));
  if (!isRight) {
    logger.info({ user_id: user.id, method }, "second factor rejected");
    throw new AppError("wrong_credentials", "The code is wrong or was already used.", { param: "code" });
  }
  await attempt.succeed();
}

type CodeGuess = { user: User; code: string; keys: FactorKeys };

async function spendTotpCode(database: Database, { user, code, keys }: CodeGuess, now: Date): Promise<boolean> {
  if (user.totpSecret === null) return false;
  const secret = openSecret({ key: keys.totp, ownerId: user.id }, user.totpSecret);
  const step = findTotpStep(secret, code.replaceAll(/\s/g, ""), now);
  return step !== null && (await updateTotpStep(database, user.id, step));
}

async function spendBackupCode(database: Database, { user, code, keys }: CodeGuess): Promise<boolean> {
  if (user.totpSecret === null) return false;
  return await deleteBackupCode(database, user.id, hashBackupCode(keys, user.id, code));
}

const backupCodeCount = 10;
const backupCodeCharacters = 10;
/** Crockford's alphabet without i, l, o and u, which are easily confused. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

export function makeBackupCodes(randomBytes: (count: number) => Uint8Array): string[] {
  return Array.from({ length: backupCodeCount }, () => {
    const letters = Array.from(randomBytes(backupCodeCharacters), (byte) => alphabet.charAt(byte & 31)).join("");
    invariant(letters.length === backupCodeCharacters, "too few random bytes");
    return `${letters.slice(0, 5)}-${letters.slice(5)}`;
  });
}

/** Normalizes case, dashes and an o for a zero. */
export function hashBackupCode(keys: FactorKeys, userId: UserId, code: string): Buffer {
  const plain = code.toLowerCase().replaceAll(/[\s-]/g, "").replaceAll("o", "0").replaceAll(/[il]/g, "1");
  return createHmac("sha256", keys.backupCodes).update(`${userId} ${plain}`).digest();
}

function createOver(): AppError {
  return new AppError("invalid_token", "This sign-in expired. Start again with your password.");
}
