import { Readable } from "node:stream";
import type { AccountId, FileId } from "../../lib/ids.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { DocumentType, StoredFile } from "./file.ts";
import type { FileDependencies } from "./file-dependencies.ts";
import { findFile } from "./file-store.ts";
import { cleanFilename } from "./filename.ts";

export type NewDocument = {
  id: FileId;
  accountId: AccountId;
  contentType: DocumentType;
  filename: string;
  /** UTF-8. */
  bytes: Buffer;
  signal: AbortSignal;
};

const documentBytesMax = 8 * 1024 * 1024;

/** Stores a document that the gateway wrote for a task; idempotent by id. */
export async function keepDocument(
  { database, storage, spool }: FileDependencies,
  { id, accountId, contentType, filename, bytes, signal }: NewDocument,
): Promise<StoredFile> {
  const known = await findFile(database, id);
  if (known !== null) return known;
  checkSize(bytes.length);
  const spooled = await spool.write(Readable.from([bytes]), { bytesMax: documentBytesMax, signal });
  try {
    const media = { kind: "document", contentType, width: null, height: null, durationMs: null } as const;
    return await storage.storeOutput({ id, accountId, filename: cleanFilename(filename), spooled, media }, signal);
  } finally {
    await spooled.remove();
  }
}

/** A document contains model output, so its size is not under our control. */
function checkSize(bytes: number): void {
  if (bytes > 0 && bytes <= documentBytesMax) return;
  const reason = bytes === 0 ? "is empty" : `is larger than ${documentBytesMax} bytes`;
  throw new AppError("invalid_file", `The document ${reason}.`, { param: "output" });
}
