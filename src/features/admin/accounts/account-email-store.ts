import type { Database } from "../../../platform/database/database.ts";

/** The addresses of accounts, for lists across accounts. */
export async function findAccountEmails(database: Database, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await database
    .selectFrom("accounts")
    .select(["id", "email"])
    .where("id", "in", [...new Set(ids)])
    .execute();
  return new Map(rows.map(({ id, email }) => [id, email]));
}
