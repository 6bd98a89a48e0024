import { openSecret, sealNonceBytes, sealSecret } from "../../../../platform/config/seal-secret.ts";
import { type Database, inTransaction } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import type { AnnounceChange } from "../announce-change.ts";
import { deleteSessions } from "../session/session-store.ts";
import type { Sessions } from "../session/sessions.ts";
import type { SiteSession } from "../session/site-session.ts";
import { type BeginAttempt, limitCodeGuesses } from "../throttle.ts";
import type { TokenDependencies } from "../user/issue-token.ts";
import { lockUser } from "../user/user-store.ts";
import { type FactorKeys, hashBackupCode, makeBackupCodes } from "./second-factor.ts";
import { replaceBackupCodes, updateTotpSecret, updateTotpWaiting } from "./second-factor-store.ts";
import { findTotpStep, presentBase32, presentTotpUri, totpSecretBytes } from "./totp.ts";

export type FactorDependencies = TokenDependencies & {
  database: Database;
  beginAttempt: BeginAttempt;
  sessions: Sessions;
  announceChange: AnnounceChange;
  keys: FactorKeys;
  /** As the app shows it. */
  serviceName: string;
};

/** A new secret for an authenticator app. It is in force only when a code of it has been shown. */
export async function offerTotp(
  dependencies: FactorDependencies,
  session: SiteSession,
): Promise<{ secret: string; uri: string }> {
  const secret = Buffer.from(dependencies.randomBytes(totpSecretBytes));
  const place = { key: dependencies.keys.totp, ownerId: session.userId };
  const sealed = sealSecret(place, secret, dependencies.randomBytes(sealNonceBytes));
  await updateTotpWaiting(dependencies.database, session.userId, sealed);
  return {
    secret: presentBase32(secret),
    uri: presentTotpUri({ secret, email: session.email, issuer: dependencies.serviceName }),
  };
}

/** What a change of what somebody signs in with answers: everybody else is signed out, and they have a new cookie. */
export type FactorChange = { backupCodes: string[]; sessionToken: string };

export async function confirmTotp(
  dependencies: FactorDependencies,
  session: SiteSession,
  code: string,
): Promise<FactorChange> {
  const attempt = await dependencies.beginAttempt(limitCodeGuesses(session.userId));
  const change = await inTransaction(dependencies.database, async (tx) => {
    const user = await lockUser(tx, session.userId);
    const sealed = user?.totpSecretWaiting ?? null;
    if (sealed === null) throw new AppError("invalid_token", "Begin again: there is no authenticator to confirm.");
    const secret = openSecret({ key: dependencies.keys.totp, ownerId: session.userId }, sealed);
    const step = findTotpStep(secret, code.replaceAll(/\s/g, ""), dependencies.clock.now());
    if (step === null) {
      const message = "This code is not right. Take the one that the app shows now; its clock must be right.";
      throw new AppError("wrong_credentials", message, { param: "code" });
    }
    await updateTotpSecret(tx, session.userId, { sealed, step });
    return await finishChange(tx, dependencies, session, makeBackupCodes(dependencies.randomBytes));
  });
  await attempt.succeed();
  dependencies.announceChange(session, "Two-step sign-in was switched on");
  return change;
}

export async function removeTotp(dependencies: FactorDependencies, session: SiteSession): Promise<FactorChange> {
  const change = await inTransaction(dependencies.database, async (tx) => {
    await lockUser(tx, session.userId);
    await updateTotpSecret(tx, session.userId, null);
    return await finishChange(tx, dependencies, session, []);
  });
  dependencies.announceChange(session, "Two-step sign-in was switched off");
  return change;
}

/** New codes; those from before are void. */
export async function renewBackupCodes(dependencies: FactorDependencies, session: SiteSession): Promise<string[]> {
  const codes = makeBackupCodes(dependencies.randomBytes);
  await inTransaction(dependencies.database, async (tx) => {
    const user = await lockUser(tx, session.userId);
    if (user?.totpSecret == null) throw new AppError("not_found", "Two-step sign-in is not switched on.");
    await replaceBackupCodes(tx, session.userId, hashCodes(dependencies.keys, session, codes));
  });
  dependencies.announceChange(session, "New backup codes were made");
  return codes;
}

async function finishChange(
  tx: Database,
  { sessions, keys }: FactorDependencies,
  session: SiteSession,
  codes: string[],
): Promise<FactorChange> {
  await replaceBackupCodes(tx, session.userId, hashCodes(keys, session, codes));
  await deleteSessions(tx, { userId: session.userId, exceptId: session.id });
  const { token } = await sessions.renew(tx, session.id, "change");
  return { backupCodes: codes, sessionToken: token };
}

function hashCodes(keys: FactorKeys, { userId }: SiteSession, codes: readonly string[]): Buffer[] {
  return codes.map((code) => hashBackupCode(keys, userId, code));
}
