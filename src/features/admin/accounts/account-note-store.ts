import type { AccountId } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";

export type AccountNote = { id: string; author: string; text: string; createdAt: Date };

export async function insertNote(tx: Database, accountId: AccountId, note: AccountNote): Promise<void> {
  const { id, author, text, createdAt } = note;
  await tx
    .insertInto("account_notes")
    .values({ id, account_id: accountId, author, text, created_at: createdAt })
    .execute();
}

/** Newest first. */
export async function listNotes(
  database: Database,
  accountId: AccountId,
  { after, limit }: { after: string | null; limit: number },
): Promise<AccountNote[]> {
  const rows = await database
    .selectFrom("account_notes")
    .select(["id", "author", "text", "created_at"])
    .where("account_id", "=", accountId)
    .$if(after !== null, (query) => query.where("id", "<", after ?? ""))
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(({ created_at: createdAt, ...note }) => ({ ...note, createdAt }));
}
