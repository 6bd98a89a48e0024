import type { ShownRequest } from "../../src/features/requests/index.ts";
import { findAnyRequest } from "../../src/features/requests/request-store.ts";
import { readIdTime } from "../../src/lib/ids.ts";
import type { Database } from "../../src/platform/database/database.ts";

/** A call in the request log, read from the database: a call to the gateway would be logged as well. */
export async function findLoggedCall(database: Database, id: string | null): Promise<ShownRequest | null> {
  const createdAt = readIdTime(id ?? "");
  return id === null || createdAt === null ? null : await findAnyRequest(database, { id, createdAt });
}
