import type { UserId } from "../../../lib/ids.ts";
import { inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { type Account, closeAccount } from "../../accounts/index.ts";
import { appendAudit } from "../../audit/index.ts";
import { endSessionsOfAccount, resetSecondFactor } from "../../site/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { nameActor } from "../edge/admin-caller.ts";
import { requireReason } from "../edge/reason.ts";
import { findOperatorRole } from "../operators/operator-store.ts";
import { type AccountNote, insertNote } from "./account-note-store.ts";
import { type AccountAction, getAccount } from "./change-account-as-operator.ts";

const noteCharactersMax = 4000;

/** Operators' memory of an account; its owner never sees it. */
export async function addNote(
  { database, clock, ids }: Pick<AdminDependencies, "database" | "clock" | "ids">,
  { accountId, acting, text }: Omit<AccountAction, "reason"> & { text: string },
): Promise<AccountNote> {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.length > noteCharactersMax) {
    throw new AppError("invalid_parameter", `A note must have 1 to ${noteCharactersMax} characters.`, {
      param: "text",
    });
  }
  const note = { id: ids.next("note"), author: nameActor(acting.actor), text: trimmed, createdAt: clock.now() };
  await inTransaction(database, async (tx) => {
    await getAccount(tx, accountId);
    await insertNote(tx, accountId, note);
    await appendAudit(tx, {
      ...{ ...acting, action: "account.noted", subject: note.id, accountId, reason: null },
      ...{ before: null, after: null },
    });
  });
  return note;
}

/** Suspends the account, revokes its keys and ends its sessions. Its books and its balance stay. */
export async function closeAsOperator(
  { database, clock }: Pick<AdminDependencies, "database" | "clock">,
  { accountId, acting, reason: text }: AccountAction,
): Promise<Account> {
  const reason = requireReason(text);
  return await inTransaction(database, async (tx) => {
    const { account, revokedKeys } = await closeAccount(tx, accountId, clock.now());
    await endSessionsOfAccount(tx, accountId);
    await appendAudit(tx, {
      ...{ ...acting, action: "account.closed", subject: accountId, accountId, reason },
      ...{ before: null, after: { revoked_keys: revokedKeys } },
    });
    return account;
  });
}

/**
 * Removes a user's authenticator app and backup codes, and ends all sessions: for people who lost their device. Passkeys stay.
 * No key may do this to an operator, or a leaked key and a password would open the operator side.
 */
export async function resetTwoStepAsOperator(
  { database, notifyChange }: Pick<AdminDependencies, "database" | "notifyChange">,
  { accountId, acting, reason: text }: AccountAction,
  userId: UserId,
): Promise<void> {
  const reason = requireReason(text);
  const email = await inTransaction(database, async (tx) => {
    const isOperator = (await findOperatorRole(tx, userId)) !== null;
    if (isOperator && acting.actor.kind === "key") {
      throw new AppError("operator_not_permitted", "Only an operator who signed in can reset another operator.");
    }
    const user = await resetSecondFactor(tx, { accountId, userId });
    if (user === null) throw new AppError("not_found", "The account has no such user.", { param: "user_id" });
    if (!user.hadSecondFactor) {
      throw new AppError("invalid_parameter", "This user has no authenticator app.", { param: "user_id" });
    }
    await appendAudit(tx, {
      ...{ ...acting, action: "two_step.reset", subject: userId, accountId, reason },
      ...{ before: null, after: null },
    });
    return user.email;
  });
  notifyChange({ userId, email }, "Two-factor authentication was reset by the service");
}
