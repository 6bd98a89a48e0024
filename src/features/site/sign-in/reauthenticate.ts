import type { AuthenticationResponseJSON } from "@simplewebauthn/server";
import { AppError } from "../../../platform/errors/app-error.ts";
import { getSessionUser } from "./get-session-user.ts";
import { acceptPasskey } from "./passkeys.ts";
import { requireCode } from "./second-factor.ts";
import { renewSession } from "./sessions.ts";
import type { SignInParts } from "./sign-in-parts.ts";
import type { SiteSession } from "./site-session.ts";
import { beginAttempt, limitPasswordGuesses } from "./throttle.ts";

export type Proof =
  | { kind: "password"; password: string; address: string }
  | { kind: "code"; code: string }
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
    if ((await acceptPasskey(parts, proof)) === session.userId) return;
    throw new AppError("wrong_credentials", "This is the passkey of somebody else.", { param: "passkey" });
  }
  const user = await getSessionUser(parts.database, session);
  if (proof.kind === "code") return await requireCode(parts, user, { method: "totp", code: proof.code });
  const attempt = await beginAttempt(parts, limitPasswordGuesses(user.email, proof.address));
  if (!(await parts.passwords.isRight(user.passwordHash, proof.password))) {
    throw new AppError("wrong_credentials", "This is not your password.", { param: "password" });
  }
  await attempt.succeed();
}
