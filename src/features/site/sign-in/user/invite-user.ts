import { inTransaction } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { requireEmail } from "./check-email.ts";
import { findUserByEmail } from "./user-store.ts";
import { issueToken, type LinkDependencies } from "./user-token.ts";
import { deleteTokensByEmail } from "./user-token-store.ts";

const inviteMs = 7 * 24 * 60 * 60_000;

/** Creates an invitation link for an address and voids earlier ones. */
export async function inviteUser(
  dependencies: LinkDependencies,
  email: string,
): Promise<{ url: string; expiresAt: Date }> {
  requireEmail(email);
  const expiresAt = new Date(dependencies.clock.now().getTime() + inviteMs);
  const invite = await inTransaction(dependencies.database, async (tx) => {
    if ((await findUserByEmail(tx, email)) !== null) {
      throw new AppError("invalid_parameter", `${email} already has an account.`, { param: "email" });
    }
    await deleteTokensByEmail(tx, "invite", email);
    return await issueToken(tx, dependencies, { kind: "invite", validMs: inviteMs, email });
  });
  const query = new URLSearchParams({ invite, email });
  return { url: `${dependencies.siteUrl}/sign-up?${query}`, expiresAt };
}
