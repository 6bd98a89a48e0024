import type { Database } from "../../platform/database/database.ts";
import type { Model, ModelStatus, ModelType } from "./model.ts";

export async function listModelRows(database: Database): Promise<Model[]> {
  const rows = await database
    .selectFrom("models")
    .select([
      "id",
      "name",
      "type",
      "status",
      "logo",
      "description",
      "advantages",
      "scenarios",
      "capabilities",
      "created_at as createdAt",
    ])
    .orderBy("id")
    .execute();
  // The table's checks allow no other words.
  return rows.map((row) => ({ ...row, type: row.type as ModelType, status: row.status as ModelStatus }));
}

/** Adds models; one that is there already stays as it is. */
export async function insertModels(database: Database, models: readonly Model[]): Promise<void> {
  await database
    .insertInto("models")
    .values(
      models.map(({ createdAt, ...model }) => ({
        ...model,
        advantages: [...model.advantages],
        scenarios: [...model.scenarios],
        capabilities: [...model.capabilities],
        created_at: createdAt,
      })),
    )
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
}
