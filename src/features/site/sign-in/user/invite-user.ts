import { inTransaction } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import type { SignInParts } from "../sign-in-parts.ts";
import { requireEmail } from "./check-email.ts";
import { findUserByEmail } from "./user-store.ts";
import { makeToken } from "./user-token.ts";
import { deleteTokensByEmail, insertToken } from "./user-token-store.ts";

const inviteMs = 7 * 24 * 60 * 60_000;

/** A link by which this address can sign up where others cannot; one from before is void. */
export async function inviteUser(
  parts: Pick<SignInParts, "database" | "clock" | "randomBytes" | "siteUrl">,
  email: string,
): Promise<{ url: string; expiresAt: Date }> {
  requireEmail(email);
  const token = makeToken(parts.randomBytes);
  const now = parts.clock.now();
  const expiresAt = new Date(now.getTime() + inviteMs);
  await inTransaction(parts.database, async (tx) => {
    if ((await findUserByEmail(tx, email)) !== null) {
      throw new AppError("invalid_parameter", `There is an account for ${email} already.`, { param: "email" });
    }
    await deleteTokensByEmail(tx, "invite", email);
    await insertToken(tx, {
      hash: token.hash,
      kind: "invite",
      email,
      userId: null,
      details: {},
      createdAt: now,
      expiresAt,
    });
  });
  const query = new URLSearchParams({ invite: token.text, email });
  return { url: `${parts.siteUrl}/sign-up?${query}`, expiresAt };
}
