import { type Database, inTransaction } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { requireEmail } from "./check-email.ts";
import { issueToken, type TokenDependencies } from "./issue-token.ts";
import { findUserByEmail } from "./user-store.ts";
import { deleteTokensByEmail } from "./user-token-store.ts";

const inviteMs = 7 * 24 * 60 * 60_000;

/** Creates an invitation link for an address and voids earlier ones. */
export async function inviteUser(
  { database, clock, randomBytes, siteUrl }: TokenDependencies & { database: Database; siteUrl: string },
  email: string,
): Promise<{ url: string; expiresAt: Date }> {
  requireEmail(email);
  const expiresAt = new Date(clock.now().getTime() + inviteMs);
  const invite = await inTransaction(database, async (tx) => {
    if ((await findUserByEmail(tx, email)) !== null) {
      throw new AppError("invalid_parameter", `${email} already has an account.`, { param: "email" });
    }
    await deleteTokensByEmail(tx, "invite", email);
    return await issueToken(tx, { clock, randomBytes }, { kind: "invite", validMs: inviteMs, email });
  });
  const query = new URLSearchParams({ invite, email });
  return { url: `${siteUrl}/sign-up?${query}`, expiresAt };
}
