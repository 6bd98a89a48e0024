import { Buffer } from "node:buffer";
import type { AccountId, FileId } from "../../lib/ids.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { Files, StoredFile } from "../files/index.ts";
import type { TaskOutput } from "../tasks/index.ts";
import type { DramaDocument } from "./drama-documents.ts";

/** A drama's documents, stored as files of its account. */
export type DocumentStorage = {
  /** `null` if it is not written yet. */
  find<D extends DramaDocument>(accountId: AccountId, fileId: FileId): Promise<D | null>;
  /** Throws an error that names the field if it is gone. */
  get(accountId: AccountId, fileId: FileId, param: string): Promise<DramaDocument>;
  /** The first write wins; returns what is stored. */
  keep<D extends DramaDocument>(
    document: D,
    place: { accountId: AccountId; fileId: FileId; type: "script" | "roles" | "storyboard"; signal: AbortSignal },
  ): Promise<{ document: D; output: TaskOutput }>;
};

/** Dramas are polled every second and documents never change, so recent ones are cached. */
const cachedMax = 500;

export function createDocumentStorage(files: Pick<Files, "keepDocument" | "readDocument">): DocumentStorage {
  const cache = new Map<FileId, DramaDocument>();

  async function get(accountId: AccountId, fileId: FileId, param: string): Promise<DramaDocument> {
    return JSON.parse((await files.readDocument(accountId, fileId, { param })).toString()) as DramaDocument;
  }

  async function find<D extends DramaDocument>(accountId: AccountId, fileId: FileId): Promise<D | null> {
    const known = cache.get(fileId);
    if (known !== undefined) return known as D;
    try {
      const document = await get(accountId, fileId, "output");
      addToCache(fileId, document);
      return document as D;
    } catch (error) {
      if (error instanceof AppError && error.code === "file_not_found") return null;
      throw error;
    }
  }

  function addToCache(fileId: FileId, document: DramaDocument): void {
    cache.set(fileId, document);
    for (const oldest of cache.keys()) {
      if (cache.size <= cachedMax) return;
      cache.delete(oldest);
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

/** A file as a task's output. */
export function describeFile(type: TaskOutput["type"], file: StoredFile): TaskOutput {
  const { id: fileId, contentType, bytes, sha256, width, height, durationMs, expiresAt } = file;
  return { type, fileId, contentType, bytes, sha256, width, height, durationMs, expiresAt };
}
