import type { Clock } from "../../../lib/clock.ts";
import { type Database, inTransaction } from "../../../platform/database/database.ts";
import { requireName, updateAccount } from "../../accounts/index.ts";
import type { SiteSession } from "../sign-in/session/site-session.ts";
import { updateUserName } from "../sign-in/user/user-store.ts";

/** In one transaction. */
export async function changeProfile(
  { database, clock }: { database: Database; clock: Clock },
  { accountId, userId }: SiteSession,
  { name, timeZone }: { name?: string; timeZone?: string },
): Promise<void> {
  await inTransaction(database, async (tx) => {
    if (name !== undefined) await updateUserName(tx, userId, requireName(name));
    if (timeZone !== undefined) await updateAccount({ database: tx, clock }, accountId, { timeZone });
  });
}
