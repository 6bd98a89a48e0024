import type { AuthenticationResponseJSON } from "@simplewebauthn/server";
import type { SiteSession } from "../../../../lib/console-session.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { acceptPasskey } from "../passkey/passkeys.ts";
import { requireCode } from "../second-factor/second-factor.ts";
import type { SignInDependencies } from "../sign-in-dependencies.ts";
import { hasSecondFactor, type User } from "../user/user.ts";
import { getSessionUser } from "./sessions.ts";

export type Proof =
  | { kind: "secrets"; password: string | null; code: string | null; address: string }
  | { kind: "passkey"; response: AuthenticationResponseJSON; passkeyToken: string | null };

/** Reauthenticates the session's user and rotates the session token. */
export async function reauthenticate(
  dependencies: SignInDependencies,
  session: SiteSession,
  proof: Proof,
): Promise<{ token: string; freshUntil: Date }> {
  const isTwoStep = await requireProof(dependencies, session, proof);
  dependencies.logger.info({ user_id: session.userId, method: proof.kind }, "user reauthenticated");
  return await dependencies.sessions.renew(dependencies.database, session.id, { after: "proof", isTwoStep });
}

/** Whether it took a passkey or a code. */
async function requireProof(dependencies: SignInDependencies, session: SiteSession, proof: Proof): Promise<boolean> {
  if (proof.kind === "passkey") {
    if ((await acceptPasskey(dependencies, proof)).userId === session.userId) return true;
    throw new AppError("wrong_credentials", "This passkey belongs to another user.", { param: "passkey" });
  }
  const user = await getSessionUser(dependencies.database, session);
  const { password, code } = requireAll(user, proof);
  // Check the password first: a code counts once, and a wrong password must not consume it.
  const guess = password === null ? null : { password, address: proof.address, param: "password" };
  if (guess !== null) await dependencies.passwords.require(user, guess, "The password is wrong.");
  if (code !== null) await requireCode(dependencies, user, { method: "totp", code });
  return code !== null;
}

/** Requires the same factors as the sign-in. */
function requireAll(user: User, { password, code }: Extract<Proof, { kind: "secrets" }>) {
  const needsCode = hasSecondFactor(user);
  const needsPassword = user.passwordHash !== null || !needsCode;
  if (needsPassword && password === null) throw createMissing("password", "Send your password.");
  if (needsCode && code === null) {
    throw createMissing("code", "Two-factor authentication is on: send a code from your authenticator app too.");
  }
  return { password: needsPassword ? password : null, code: needsCode ? code : null };
}

function createMissing(param: "password" | "code", message: string): AppError {
  return new AppError("missing_parameter", message, { param });
}
