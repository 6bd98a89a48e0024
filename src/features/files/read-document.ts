import { buffer } from "node:stream/consumers";
import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { ByteStore } from "../../platform/storage/byte-store.ts";
import { getFileOfKind } from "./get-file.ts";
import { openFile } from "./open-file.ts";

/** Reads a whole document of the account; its size was limited when it was stored. */
export async function readDocument(
  { database, clock, bytes }: { database: Database; clock: Clock; bytes: ByteStore },
  accountId: AccountId,
  { fileId, param }: { fileId: string; param: string },
): Promise<Buffer> {
  const wanted = { param, kinds: ["document"] } as const;
  const file = await getFileOfKind({ database, clock }, accountId, { fileId, wanted });
  return await buffer(await openFile({ bytes }, file));
}
