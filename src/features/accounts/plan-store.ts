import type { Database } from "../../platform/database/database.ts";
import type { Plan } from "./account.ts";
import { limitColumnNames, toLimitColumns, toLimits } from "./limit-columns.ts";

/** `false` when there is a plan of that id. */
export async function insertPlan(database: Database, { id, name, limits, createdAt }: Plan): Promise<boolean> {
  const result = await database
    .insertInto("plans")
    .values({ id, name, ...toLimitColumns(limits), created_at: createdAt })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export async function updatePlanRow(database: Database, { id, name, limits }: Plan): Promise<void> {
  await database
    .updateTable("plans")
    .set({ name, ...toLimitColumns(limits) })
    .where("id", "=", id)
    .execute();
}

export async function findPlan(database: Database, id: string): Promise<Plan | null> {
  const row = await selectPlans(database).where("id", "=", id).executeTakeFirst();
  return row === undefined ? null : toPlan(row);
}

/** Locks the plan until the transaction ends, so that two changes of it do not undo each other. */
export async function lockPlan(tx: Database, id: string): Promise<Plan | null> {
  const row = await selectPlans(tx).where("id", "=", id).forUpdate().executeTakeFirst();
  return row === undefined ? null : toPlan(row);
}

export async function listPlans(database: Database): Promise<Plan[]> {
  return (await selectPlans(database).orderBy("id").execute()).map(toPlan);
}

function selectPlans(database: Database) {
  return database.selectFrom("plans").select(["id", "name", "created_at", ...limitColumnNames]);
}

function toPlan(row: { id: string; name: string; created_at: Date } & Parameters<typeof toLimits>[0]): Plan {
  return { id: row.id, name: row.name, limits: toLimits(row), createdAt: row.created_at };
}
