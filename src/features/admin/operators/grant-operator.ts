import type { Clock } from "../../../lib/clock.ts";
import type { UserId } from "../../../lib/ids.ts";
import type { OperatorRole } from "../../../lib/operator-role.ts";
import { type Database, inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { appendAudit } from "../../audit/index.ts";
import { findUserByEmail } from "../../site/index.ts";
import { type Acting, nameActor } from "../edge/admin-caller.ts";
import {
  deleteOperator,
  findOperator,
  listOperators,
  lockOperators,
  type Operator,
  putOperator,
} from "./operator-store.ts";

/** Makes a user an operator or a reader, or changes the role. Takes effect with the next request. */
export async function grantOperator(
  { database, clock }: { database: Database; clock: Clock },
  { email, role, acting, reason }: { email: string; role: OperatorRole; acting: Acting; reason: string | null },
): Promise<Operator> {
  return await inTransaction(database, async (tx) => {
    const user = await findUserByEmail(tx, email);
    if (user === null) {
      throw new AppError("invalid_parameter", `There is no user ${email}. The person must sign up first.`, {
        param: "email",
      });
    }
    await lockOperators(tx);
    const before = await findOperator(tx, user.id);
    if (before?.role === "operator" && role === "reader") await requireAnother(tx, user.id);
    await putOperator(tx, { userId: user.id, role, grantedBy: nameActor(acting.actor), grantedAt: clock.now() });
    await appendAudit(tx, {
      ...acting,
      action: "operator.granted",
      subject: user.id,
      accountId: user.accountId,
      reason,
      before: before === null ? null : { email: user.email, role: before.role },
      after: { email: user.email, role },
    });
    const granted = await findOperator(tx, user.id);
    if (granted === null) throw new AppError("not_found", `The user ${email} was deleted.`);
    return granted;
  });
}

/** The rights end with the next request. */
export async function revokeOperator(
  database: Database,
  { userId, acting, reason }: { userId: UserId; acting: Acting; reason: string | null },
): Promise<void> {
  await inTransaction(database, async (tx) => {
    await lockOperators(tx);
    const before = await findOperator(tx, userId);
    if (before === null) throw new AppError("not_found", "This user is not an operator.", { param: "user_id" });
    if (before.role === "operator" && acting.actor.kind !== "command") await requireAnother(tx, userId);
    await deleteOperator(tx, userId);
    const { email, role } = before;
    await appendAudit(tx, {
      ...acting,
      ...{ action: "operator.revoked", subject: userId, accountId: null, reason },
      ...{ before: { email, role }, after: null },
    });
  });
}

/** Without an operator, only the command line could grant the role again. */
async function requireAnother(tx: Database, userId: UserId): Promise<void> {
  const others = (await listOperators(tx)).filter((other) => other.role === "operator" && other.userId !== userId);
  if (others.length > 0) return;
  throw new AppError("invalid_parameter", "This is the last operator. Grant the role to another user first.", {
    param: "user_id",
  });
}
