import type { AccountId, UserId } from "../../../../lib/ids.ts";
import type { Database } from "../../../../platform/database/database.ts";
import { deleteSessions } from "../session/session-store.ts";
import { hasSecondFactor } from "../user/user.ts";
import { lockUser } from "../user/user-store.ts";
import { replaceBackupCodes, updateTotpSecret } from "./second-factor-store.ts";

/** For an operator: removes the authenticator app and ends all sessions. `null` if the account has no such user. */
export async function resetSecondFactor(
  tx: Database,
  { accountId, userId }: { accountId: AccountId; userId: UserId },
): Promise<{ email: string; hadSecondFactor: boolean } | null> {
  const user = await lockUser(tx, userId);
  if (user === null || user.accountId !== accountId) return null;
  await updateTotpSecret(tx, userId, null);
  await replaceBackupCodes(tx, userId, []);
  await deleteSessions(tx, { userId, exceptId: null });
  return { email: user.email, hadSecondFactor: hasSecondFactor(user) };
}
