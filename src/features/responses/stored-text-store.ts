import { sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";

/** How many bytes an account's responses and conversations have together. */
export async function sumStoredTexts(database: Database, accountId: AccountId): Promise<number> {
  const { bytes } = await database
    .selectFrom("stored_texts")
    .select(sql<string>`coalesce(sum(bytes), 0)`.as("bytes"))
    .where("account_id", "=", accountId)
    .executeTakeFirstOrThrow();
  return Number(bytes);
}
