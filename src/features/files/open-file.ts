import type { Readable } from "node:stream";
import { type ByteRange, type ByteStore, MissingBytesError } from "../../platform/storage/byte-store.ts";
import type { StoredFile } from "./file.ts";
import { createFileNotFound } from "./get-file.ts";

export async function openFile(
  { bytes }: { bytes: ByteStore },
  { storageKey }: StoredFile,
  range?: ByteRange,
): Promise<Readable> {
  try {
    return await bytes.open(storageKey, range);
  } catch (error) {
    // The file was deleted after it was found.
    throw error instanceof MissingBytesError ? createFileNotFound(undefined, error) : error;
  }
}
