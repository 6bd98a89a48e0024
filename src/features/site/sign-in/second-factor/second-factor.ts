import { createHmac } from "node:crypto";
import type { UserId } from "../../../../lib/ids.ts";
import { invariant } from "../../../../lib/invariant.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { type Browser, openSession, type StillHolds, withHeldProof } from "../session/sessions.ts";
import type { SignInParts } from "../sign-in-parts.ts";
import { beginAttempt, limitCodeGuesses } from "../throttle.ts";
import type { User } from "../user/user.ts";
import { findUser } from "../user/user-store.ts";
import { hashToken, makeToken } from "../user/user-token.ts";
import { findToken, insertToken, takeToken } from "../user/user-token-store.ts";
import { openSecret } from "./seal-secret.ts";
import { deleteBackupCode, updateTotpStep } from "./second-factor-store.ts";
import { findTotpStep } from "./totp.ts";

export const secondFactorMs = 10 * 60_000;

/** Remembers that the password was right. Answers the text of a cookie; `null` when it is so no longer. */
export async function beginSecondFactor(
  parts: SignInParts,
  proof: { userId: UserId; stillHolds: StillHolds },
): Promise<string | null> {
  const token = makeToken(parts.randomBytes);
  return await withHeldProof(parts.database, proof, async (tx) => {
    const now = parts.clock.now();
    await insertToken(tx, {
      hash: token.hash,
      kind: "second-factor",
      email: null,
      userId: proof.userId,
      details: {},
      createdAt: now,
      expiresAt: new Date(now.getTime() + secondFactorMs),
    });
    return token.text;
  });
}

type FactorRequest = {
  factorToken: string | null;
  method: "totp" | "backup-code";
  code: string;
  browser: Browser;
};

/** The second half of a sign-in by password. Answers the text of the session's cookie. */
export async function signInWithCode(parts: SignInParts, request: FactorRequest): Promise<string> {
  const { factorToken, method, code, browser } = request;
  const place = { kind: "second-factor", hash: hashToken(factorToken ?? ""), now: parts.clock.now() } as const;
  const token = factorToken === null ? null : await findToken(parts.database, place);
  const user = token?.userId == null ? null : await findUser(parts.database, token.userId);
  if (user === null) throw createOver();
  await requireCode(parts, user, { method, code });
  // A new password takes the token away, while it has the person locked.
  const stillHolds: StillHolds = async (tx) => (await takeToken(tx, place)) !== null;
  const sessionToken = await openSession(parts, { userId: user.id, browser, stillHolds });
  if (sessionToken === null) throw createOver();
  parts.logger.info({ user_id: user.id, method, address: browser.address }, "signed in");
  return sessionToken;
}

/** Uses up a code of the person, or throws. */
export async function requireCode(
  parts: SignInParts,
  user: User,
  { method, code }: { method: "totp" | "backup-code"; code: string },
): Promise<void> {
  const attempt = await beginAttempt(parts, limitCodeGuesses(user.id));
  const isRight = method === "totp" ? await spendTotpCode(parts, user, code) : await spendBackupCode(parts, user, code);
  if (!isRight) {
    parts.logger.info({ user_id: user.id, method }, "a code was refused");
    throw new AppError("wrong_credentials", "This code is not right, or it was used already.", { param: "code" });
  }
  await attempt.succeed();
}

async function spendTotpCode(parts: SignInParts, user: User, code: string): Promise<boolean> {
  if (user.totpSecret === null) return false;
  const secret = openSecret({ key: parts.keys.totp, ownerId: user.id }, user.totpSecret);
  const step = findTotpStep(secret, code.replaceAll(/\s/g, ""), parts.clock.now());
  return step !== null && (await updateTotpStep(parts.database, user.id, step));
}

async function spendBackupCode(parts: SignInParts, user: User, code: string): Promise<boolean> {
  if (user.totpSecret === null) return false;
  return await deleteBackupCode(parts.database, user.id, hashBackupCode(parts, user.id, code));
}

const backupCodeCount = 10;
const backupCodeCharacters = 10;
/** Crockford's alphabet: no i, l, o or u, so a code survives being written down. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

export function makeBackupCodes(randomBytes: SignInParts["randomBytes"]): string[] {
  return Array.from({ length: backupCodeCount }, () => {
    const letters = Array.from(randomBytes(backupCodeCharacters), (byte) => alphabet.charAt(byte & 31)).join("");
    invariant(letters.length === backupCodeCharacters, "chance ran out");
    return `${letters.slice(0, 5)}-${letters.slice(5)}`;
  });
}

/** However it is typed: in capitals, with or without the dash, an o for a zero. */
export function hashBackupCode({ keys }: Pick<SignInParts, "keys">, userId: UserId, code: string): Buffer {
  const plain = code.toLowerCase().replaceAll(/[\s-]/g, "").replaceAll("o", "0").replaceAll(/[il]/g, "1");
  return createHmac("sha256", keys.backupCodes).update(`${userId} ${plain}`).digest();
}

function createOver(): AppError {
  return new AppError("invalid_token", "This sign-in took too long, or is over. Begin again with your password.");
}
