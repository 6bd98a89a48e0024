import type { SiteSession } from "../../../../lib/console-session.ts";
import { openSecret, sealNonceBytes, sealSecret } from "../../../../platform/config/seal-secret.ts";
import { type Database, inTransaction } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { appendOwnAction } from "../../../audit/index.ts";
import { deleteSessions } from "../session/session-store.ts";
import type { FactorKeys, SignInDependencies } from "../sign-in-dependencies.ts";
import { limitCodeGuesses } from "../throttle.ts";
import { lockUser } from "../user/user-store.ts";
import { hashBackupCode, makeBackupCodes } from "./second-factor.ts";
import { replaceBackupCodes, updateTotpSecret, updateTotpWaiting } from "./second-factor-store.ts";
import { findTotpStep, presentBase32, presentTotpUri, totpSecretBytes } from "./totp.ts";

/** A new TOTP secret. It takes effect after its first valid code. */
export async function offerTotp(
  dependencies: SignInDependencies,
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

/** After a change of sign-in methods all other sessions end, and the current one gets a new cookie. */
type FactorChange = { backupCodes: string[]; sessionToken: string };

export async function confirmTotp(
  dependencies: SignInDependencies,
  session: SiteSession,
  code: string,
): Promise<FactorChange> {
  const attempt = await dependencies.beginAttempt(limitCodeGuesses(session.userId));
  const change = await inTransaction(dependencies.database, async (tx) => {
    const user = await lockUser(tx, session.userId);
    const sealed = user?.totpSecretWaiting ?? null;
    if (sealed === null)
      throw new AppError("invalid_token", "There is no authenticator to confirm. Start the setup again.");
    const secret = openSecret({ key: dependencies.keys.totp, ownerId: session.userId }, sealed);
    const step = findTotpStep(secret, code.replaceAll(/\s/g, ""), dependencies.clock.now());
    if (step === null) {
      const message = "The code is wrong. Enter the current code, and check the clock of your device.";
      throw new AppError("wrong_credentials", message, { param: "code" });
    }
    await updateTotpSecret(tx, session.userId, { sealed, step });
    const changed = await finishChange(tx, dependencies, session, makeBackupCodes(dependencies.randomBytes));
    await appendOwnAction(tx, session, { action: "two_step.enabled", subject: session.userId });
    return changed;
  });
  await attempt.succeed();
  dependencies.notifyChange(session, "Two-factor authentication was turned on");
  return change;
}

export async function removeTotp(dependencies: SignInDependencies, session: SiteSession): Promise<FactorChange> {
  const change = await inTransaction(dependencies.database, async (tx) => {
    await lockUser(tx, session.userId);
    await updateTotpSecret(tx, session.userId, null);
    const changed = await finishChange(tx, dependencies, session, []);
    await appendOwnAction(tx, session, { action: "two_step.disabled", subject: session.userId });
    return changed;
  });
  dependencies.notifyChange(session, "Two-factor authentication was turned off");
  return change;
}

/** New codes; earlier ones become invalid. */
export async function renewBackupCodes(dependencies: SignInDependencies, session: SiteSession): Promise<string[]> {
  const codes = makeBackupCodes(dependencies.randomBytes);
  await inTransaction(dependencies.database, async (tx) => {
    const user = await lockUser(tx, session.userId);
    if (user?.totpSecret == null)
      throw new AppError("not_found", "Two-factor authentication is off. Turn it on first.");
    await replaceBackupCodes(tx, session.userId, hashCodes(dependencies.keys, session, codes));
    await appendOwnAction(tx, session, { action: "two_step.codes_renewed", subject: session.userId });
  });
  dependencies.notifyChange(session, "New backup codes were created");
  return codes;
}

async function finishChange(
  tx: Database,
  { sessions, keys }: SignInDependencies,
  session: SiteSession,
  codes: string[],
): Promise<FactorChange> {
  await replaceBackupCodes(tx, session.userId, hashCodes(keys, session, codes));
  await deleteSessions(tx, { userId: session.userId, exceptId: session.id });
  const { token } = await sessions.renew(tx, session.id, { after: "change", isTwoStep: codes.length > 0 });
  return { backupCodes: codes, sessionToken: token };
}

function hashCodes(keys: FactorKeys, { userId }: SiteSession, codes: readonly string[]): Buffer[] {
  return codes.map((code) => hashBackupCode(keys, userId, code));
}
