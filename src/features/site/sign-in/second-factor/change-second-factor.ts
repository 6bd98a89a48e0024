import { inTransaction } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { announceChange } from "../announce-change.ts";
import { deleteSessions } from "../session/session-store.ts";
import { renewSession } from "../session/sessions.ts";
import type { SiteSession } from "../session/site-session.ts";
import type { SignInParts } from "../sign-in-parts.ts";
import { beginAttempt, limitCodeGuesses } from "../throttle.ts";
import { lockUser } from "../user/user-store.ts";
import { openSecret, sealNonceBytes, sealSecret } from "./seal-secret.ts";
import { hashBackupCode, makeBackupCodes } from "./second-factor.ts";
import { replaceBackupCodes, updateTotpSecret, updateTotpWaiting } from "./second-factor-store.ts";
import { findTotpStep, presentBase32, presentTotpUri, totpSecretBytes } from "./totp.ts";

const issuer = "Sluice";

/** A new secret for an authenticator app. It is in force only when a code of it has been shown. */
export async function offerTotp(parts: SignInParts, session: SiteSession): Promise<{ secret: string; uri: string }> {
  const secret = Buffer.from(parts.randomBytes(totpSecretBytes));
  const place = { key: parts.keys.totp, ownerId: session.userId };
  const sealed = sealSecret(place, secret, parts.randomBytes(sealNonceBytes));
  await updateTotpWaiting(parts.database, session.userId, sealed);
  return { secret: presentBase32(secret), uri: presentTotpUri({ secret, email: session.email, issuer }) };
}

/** What a change of what somebody signs in with answers: everybody else is signed out, and they have a new cookie. */
export type FactorChange = { backupCodes: string[]; sessionToken: string };

export async function confirmTotp(parts: SignInParts, session: SiteSession, code: string): Promise<FactorChange> {
  const attempt = await beginAttempt(parts, limitCodeGuesses(session.userId));
  const change = await inTransaction(parts.database, async (tx) => {
    const user = await lockUser(tx, session.userId);
    const sealed = user?.totpSecretWaiting ?? null;
    if (sealed === null) throw new AppError("invalid_token", "Begin again: there is no authenticator to confirm.");
    const secret = openSecret({ key: parts.keys.totp, ownerId: session.userId }, sealed);
    const step = findTotpStep(secret, code.replaceAll(/\s/g, ""), parts.clock.now());
    if (step === null) {
      const message = "This code is not right. Take the one that the app shows now; its clock must be right.";
      throw new AppError("wrong_credentials", message, { param: "code" });
    }
    await updateTotpSecret(tx, session.userId, { sealed, step });
    return await finishChange({ ...parts, database: tx }, session, makeBackupCodes(parts.randomBytes));
  });
  await attempt.succeed();
  announceChange(parts, session, "Two-step sign-in was switched on");
  return change;
}

export async function removeTotp(parts: SignInParts, session: SiteSession): Promise<FactorChange> {
  const change = await inTransaction(parts.database, async (tx) => {
    await lockUser(tx, session.userId);
    await updateTotpSecret(tx, session.userId, null);
    return await finishChange({ ...parts, database: tx }, session, []);
  });
  announceChange(parts, session, "Two-step sign-in was switched off");
  return change;
}

/** New codes; those from before are void. */
export async function renewBackupCodes(parts: SignInParts, session: SiteSession): Promise<string[]> {
  const codes = makeBackupCodes(parts.randomBytes);
  await inTransaction(parts.database, async (tx) => {
    const user = await lockUser(tx, session.userId);
    if (user?.totpSecret == null) throw new AppError("not_found", "Two-step sign-in is not switched on.");
    await replaceBackupCodes(tx, session.userId, hashCodes(parts, session, codes));
  });
  announceChange(parts, session, "New backup codes were made");
  return codes;
}

async function finishChange(parts: SignInParts, session: SiteSession, codes: string[]): Promise<FactorChange> {
  await replaceBackupCodes(parts.database, session.userId, hashCodes(parts, session, codes));
  await deleteSessions(parts.database, { userId: session.userId, exceptId: session.id });
  const { token } = await renewSession(parts, session.id);
  return { backupCodes: codes, sessionToken: token };
}

function hashCodes(parts: SignInParts, { userId }: SiteSession, codes: readonly string[]): Buffer[] {
  return codes.map((code) => hashBackupCode(parts, userId, code));
}
