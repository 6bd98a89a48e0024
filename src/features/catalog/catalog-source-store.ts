import type { Database } from "../../platform/database/database.ts";

/** The file that became a version; `null` if an older gateway applied it. */
export async function findCatalogSource(database: Database, version: number): Promise<string | null> {
  const row = await database
    .selectFrom("catalog_sources")
    .select("source")
    .where("catalog_version", "=", version)
    .executeTakeFirst();
  return row?.source ?? null;
}

/** The catalog's lock serializes this. A file that changes comments only replaces the text of its version. */
export async function putCatalogSource(tx: Database, version: number, source: string): Promise<void> {
  await tx
    .insertInto("catalog_sources")
    .values({ catalog_version: version, source })
    .onConflict((conflict) => conflict.column("catalog_version").doUpdateSet({ source }))
    .execute();
}
