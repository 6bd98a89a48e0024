import type { Database } from "../../platform/database/database.ts";
import { deleteExpiredConversations } from "./conversation-store.ts";
import { deleteExpiredResponses } from "./response-store.ts";

const deletedAtOnceMax = 1000;

/**
 * Removes responses whose time is over, the last of a conversation first: what others go on from stays as long as they do.
 * Stored conversations go with their items.
 */
export async function forgetExpiredResponses(database: Database, now: Date): Promise<void> {
  while ((await deleteExpiredResponses(database, now, deletedAtOnceMax)) > 0);
  while ((await deleteExpiredConversations(database, now, deletedAtOnceMax)) > 0);
}
