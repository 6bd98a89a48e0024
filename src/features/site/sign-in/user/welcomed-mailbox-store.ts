import { createHash } from "node:crypto";
import type { Database } from "../../../../platform/database/database.ts";
import { nameMailbox } from "./name-mailbox.ts";

/** Notes that the mailbox of an address gets the welcome credit; says whether it never got it before. */
export async function insertWelcomedMailbox(tx: Database, email: string, now: Date): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto("welcomed_mailboxes")
    .values({ mailbox_hash: createHash("sha256").update(nameMailbox(email)).digest(), welcomed_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
}
