import { inTransaction } from "../../../platform/database/database.ts";
import { requireName, updateAccount } from "../../accounts/index.ts";
import type { SiteSession } from "../sign-in/session/site-session.ts";
import { updateUserName } from "../sign-in/user/user-store.ts";
import type { AccountParts } from "./account-parts.ts";

/** Changes what is given, all of it or nothing. */
export async function changeProfile(
  parts: Pick<AccountParts, "database" | "clock">,
  { accountId, userId }: SiteSession,
  { name, timeZone }: { name?: string; timeZone?: string },
): Promise<void> {
  await inTransaction(parts.database, async (tx) => {
    if (name !== undefined) await updateUserName(tx, userId, requireName(name));
    if (timeZone !== undefined) await updateAccount({ ...parts, database: tx }, accountId, { timeZone });
  });
}
