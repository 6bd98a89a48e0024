import { type Database, inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { appendAudit, blankPerson } from "../../audit/index.ts";
import { findUserOfAccount, type User } from "../../site/index.ts";
import { findClosedAt } from "../accounts/account-view-store.ts";
import { type AccountAction, getAccount } from "../accounts/change-account-as-operator.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { requireReason } from "../edge/reason.ts";
import { findOperatorRole } from "../operators/operator-store.ts";
import {
  countOpenTasks,
  deletePerson,
  deleteStored,
  expireFiles,
  insertErasure,
  listOpenErasures,
} from "./erase-store.ts";

export type Erasure = { auditEntries: number };

/** Longer than any call, background response or delayed log line. */
const openMs = 48 * 60 * 60_000;

/**
 * Erases the person of a closed account and all content. The books, invoices and the chain of the audit log stay. If it fails
 * halfway, repeat it: the person is removed last.
 */
export async function erasePerson(
  { database, clock }: Pick<AdminDependencies, "database" | "clock">,
  { accountId, acting, reason: text }: AccountAction,
): Promise<Erasure> {
  const reason = requireReason(text);
  await requireErasable(database, accountId);
  await deleteStored(database, accountId);
  return await inTransaction(database, async (tx) => {
    const user = await requireErasable(tx, accountId);
    const now = clock.now();
    await expireFiles(tx, accountId, now);
    const person = { userId: user.id, accountId, email: user.email, name: user.name };
    const blanked = await blankPerson(tx, person, now);
    await deletePerson(tx, person);
    await insertErasure(tx, { accountId, erasedAt: now, endsAt: new Date(now.getTime() + openMs) });
    await appendAudit(tx, {
      ...{ ...acting, action: "person.erased", subject: user.id, accountId, reason, before: null },
      after: { audit_entries: blanked.entries, old_audit_entries: blanked.oldEntries },
    });
    return { auditEntries: blanked.entries };
  });
}

/** Deletes what calls wrote that were running at the erasure of their account. */
export async function eraseLateRows({ database, clock }: Pick<AdminDependencies, "database" | "clock">): Promise<void> {
  const now = clock.now();
  for (const accountId of await listOpenErasures(database, now)) {
    await deleteStored(database, accountId);
    await expireFiles(database, accountId, now);
  }
}

async function requireErasable(database: Database, accountId: AccountAction["accountId"]): Promise<User> {
  await getAccount(database, accountId);
  const user = await findUserOfAccount(database, accountId);
  if (user === null) {
    throw new AppError("not_found", "The account has no person, or their data was erased.", { param: "account_id" });
  }
  if ((await findClosedAt(database, accountId)) === null) {
    throw createRefusal("Close the account first: a person who can sign in cannot be erased.");
  }
  if ((await findOperatorRole(database, user.id)) !== null) {
    throw createRefusal("This person is an operator. Revoke the role first.");
  }
  const open = await countOpenTasks(database, accountId);
  if (open > 0) throw createRefusal(`The account has ${open} open tasks. Cancel them or wait for their end.`);
  return user;
}

function createRefusal(message: string): AppError {
  return new AppError("invalid_parameter", message, { param: "account_id" });
}
