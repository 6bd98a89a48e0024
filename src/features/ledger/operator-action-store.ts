import type { Database } from "../../platform/database/database.ts";

export type OperatorAction = { id: string; actor: string; action: string; reason: string; createdAt: Date };

export async function insertOperatorAction(tx: Database, action: OperatorAction): Promise<void> {
  await tx
    .insertInto("operator_actions")
    .values({
      id: action.id,
      actor: action.actor,
      action: action.action,
      reason: action.reason,
      created_at: action.createdAt,
    })
    .execute();
}
