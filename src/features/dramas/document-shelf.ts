import { Buffer } from "node:buffer";
import type { AccountId, FileId } from "../../lib/ids.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { Files, StoredFile } from "../files/index.ts";
import type { TaskOutput } from "../tasks/index.ts";
import type { DramaDocument } from "./drama-documents.ts";

/** The documents of dramas, as files of their accounts. */
export type DocumentShelf = {
  /** `null` where it has not been written yet. */
  find<D extends DramaDocument>(accountId: AccountId, fileId: FileId): Promise<D | null>;
  /** An error that names the field where it is gone. */
  get(accountId: AccountId, fileId: FileId, param: string): Promise<DramaDocument>;
  /** Whoever keeps a document first has written it: the answer is what stays. */
  keep<D extends DramaDocument>(
    document: D,
    place: { accountId: AccountId; fileId: FileId; type: "script" | "roles" | "storyboard"; signal: AbortSignal },
  ): Promise<{ document: D; output: TaskOutput }>;
};

/** A drama is looked at every second, and its documents never change: those looked at last are remembered. */
const rememberedMax = 500;

export function createDocumentShelf(files: Pick<Files, "keepDocument" | "readDocument">): DocumentShelf {
  const remembered = new Map<FileId, DramaDocument>();

  async function get(accountId: AccountId, fileId: FileId, param: string): Promise<DramaDocument> {
    return JSON.parse((await files.readDocument(accountId, fileId, { param })).toString()) as DramaDocument;
  }

  async function find<D extends DramaDocument>(accountId: AccountId, fileId: FileId): Promise<D | null> {
    const known = remembered.get(fileId);
    if (known !== undefined) return known as D;
    try {
      const document = await get(accountId, fileId, "output");
      remember(fileId, document);
      return document as D;
    } catch (error) {
      if (error instanceof AppError && error.code === "file_not_found") return null;
      throw error;
    }
  }

  function remember(fileId: FileId, document: DramaDocument): void {
    remembered.set(fileId, document);
    for (const oldest of remembered.keys()) {
      if (remembered.size <= rememberedMax) return;
      remembered.delete(oldest);
    }
  }

  return {
    find,
    get,
    async keep(document, { accountId, fileId, type, signal }) {
      const file = await files.keepDocument({
        id: fileId,
        accountId,
        contentType: "application/json",
        filename: `${type}.json`,
        bytes: Buffer.from(JSON.stringify(document, null, 2)),
        signal,
      });
      const kept = await get(accountId, fileId, "output");
      return { document: kept as typeof document, output: describeFile(type, file) };
    },
  };
}

/** A file as an output of a task. */
export function describeFile(type: TaskOutput["type"], file: StoredFile): TaskOutput {
  const { id: fileId, contentType, bytes, sha256, width, height, durationMs, expiresAt } = file;
  return { type, fileId, contentType, bytes, sha256, width, height, durationMs, expiresAt };
}
