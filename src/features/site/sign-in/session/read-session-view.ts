import type { Static } from "typebox";
import type { SiteSession } from "../../../../lib/console-session.ts";
import { invariant } from "../../../../lib/invariant.ts";
import { findAccount } from "../../../accounts/index.ts";
import type { SiteDependencies } from "../../site-dependencies.ts";
import { listPasskeys } from "../passkey/passkey-store.ts";
import type { sessionSchema } from "../sign-in-schema.ts";
import { hasSecondFactor } from "../user/user.ts";
import { getSessionUser } from "./sessions.ts";

/** The session as shown to the pages. */
export async function readSessionView(
  { database, findOperatorRole }: Pick<SiteDependencies, "database" | "findOperatorRole">,
  session: SiteSession,
): Promise<Static<typeof sessionSchema>> {
  const [user, passkeys, account, role] = await Promise.all([
    getSessionUser(database, session),
    listPasskeys(database, session.userId),
    findAccount(database, session.accountId),
    session.view === null ? findOperatorRole(session.userId) : null,
  ]);
  invariant(account !== null, `user ${user.id} has no account`);
  return {
    user: {
      id: user.id,
      email: user.email,
      name: user.name,
      is_email_verified: session.isEmailVerified,
      has_password: user.passwordHash !== null,
      has_totp: hasSecondFactor(user),
      passkey_count: passkeys.length,
    },
    account: { id: account.id, time_zone: account.timeZone },
    operator: role === null ? null : { role, has_second_factor: hasSecondFactor(user) || passkeys.length > 0 },
    view: session.view === null ? null : { id: session.view.id, ends_at: session.view.endsAt.toISOString() },
    session: {
      id: session.id,
      created_at: session.createdAt.toISOString(),
      fresh_until: session.freshUntil.toISOString(),
    },
  };
}
