import type { AuthenticationResponseJSON } from "@simplewebauthn/server";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { acceptPasskey } from "../passkey/passkeys.ts";
import { requireCode } from "../second-factor/second-factor.ts";
import type { SignInParts } from "../sign-in-parts.ts";
import { beginAttempt, limitPasswordGuesses } from "../throttle.ts";
import { hasSecondFactor, type User } from "../user/user.ts";
import { getSessionUser } from "./get-session-user.ts";
import { renewSession } from "./sessions.ts";
import type { SiteSession } from "./site-session.ts";

export type Proof =
  | { kind: "secrets"; password: string | null; code: string | null; address: string }
  | { kind: "passkey"; response: AuthenticationResponseJSON; passkeyToken: string | null };

/** Somebody who is signed in proves again that it is they. The session gets a new token. */
export async function reauthenticate(
  parts: SignInParts,
  session: SiteSession,
  proof: Proof,
): Promise<{ token: string; freshUntil: Date }> {
  await requireProof(parts, session, proof);
  parts.logger.info({ user_id: session.userId, method: proof.kind }, "proved again who they are");
  return await renewSession(parts, session.id);
}

async function requireProof(parts: SignInParts, session: SiteSession, proof: Proof): Promise<void> {
  if (proof.kind === "passkey") {
    if ((await acceptPasskey(parts, proof)).userId === session.userId) return;
    throw new AppError("wrong_credentials", "This is the passkey of somebody else.", { param: "passkey" });
  }
  const user = await getSessionUser(parts.database, session);
  const { password, code } = requireAll(user, proof);
  // The password first: a code counts once, and a wrong password must not use it up.
  if (password !== null) await requirePassword(parts, user, { password, address: proof.address });
  if (code !== null) await requireCode(parts, user, { method: "totp", code });
}

/** Whatever the sign-in takes, the proof takes too: two-step sign-in means both steps. */
function requireAll(user: User, { password, code }: Extract<Proof, { kind: "secrets" }>) {
  const needsCode = hasSecondFactor(user);
  const needsPassword = user.passwordHash !== null || !needsCode;
  if (needsPassword && password === null) throw createMissing("password", "Send your password.");
  if (needsCode && code === null) {
    throw createMissing("code", "Two-step sign-in is on: send a code of your authenticator app too.");
  }
  return { password: needsPassword ? password : null, code: needsCode ? code : null };
}

async function requirePassword(
  parts: SignInParts,
  user: User,
  { password, address }: { password: string; address: string },
): Promise<void> {
  const attempt = await beginAttempt(parts, limitPasswordGuesses(user.email, address));
  if (!(await parts.passwords.isRight(user.passwordHash, password))) {
    throw new AppError("wrong_credentials", "This is not your password.", { param: "password" });
  }
  await attempt.succeed();
}

function createMissing(param: "password" | "code", message: string): AppError {
  return new AppError("missing_parameter", message, { param });
}
