import { buffer } from "node:stream/consumers";
import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { ByteStore } from "../../platform/storage/byte-store.ts";
import { getFileOfKind } from "./get-file.ts";
import { openFile } from "./open-file.ts";

/** All of a document of the account that is there: it was limited when it was kept. */
export async function readDocument(
  parts: { database: Database; clock: Clock; bytes: ByteStore },
  accountId: AccountId,
  { fileId, param }: { fileId: string; param: string },
): Promise<Buffer> {
  const file = await getFileOfKind(parts, accountId, { fileId, wanted: { param, kinds: ["document"] } });
  return await buffer(await openFile(parts, file));
}
