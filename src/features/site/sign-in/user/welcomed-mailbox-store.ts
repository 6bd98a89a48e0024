import { createHash } from "node:crypto";
import type { Database } from "../../../../platform/database/database.ts";
import { normalizeMailbox } from "./normalize-mailbox.ts";

/** Records the mailbox; returns whether it is new. */
export async function insertWelcomedMailbox(tx: Database, email: string, now: Date): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto("welcomed_mailboxes")
    .values({ mailbox_hash: createHash("sha256").update(normalizeMailbox(email)).digest(), welcomed_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
}
