import type { Readable } from "node:stream";

/** Inclusive, counted from 0, as in HTTP. */
export type ByteRange = { start: number; end: number };

/** Blob storage: a folder or a bucket. */
export type ByteStore = {
  /**
   * Writes or replaces a blob; durable when it resolves. A failed or aborted write leaves nothing.
   */
  put(key: string, bytes: AsyncIterable<Uint8Array>, options: { signal: AbortSignal }): Promise<void>;
  /** Throws `MissingBytesError` if the key does not exist. */
  open(key: string, range?: ByteRange): Promise<Readable>;
  /** Idempotent. */
  delete(key: string): Promise<void>;
  /** The sorted names of blobs and folders directly in a folder; `""` is the root. */
  list(folder: string): Promise<string[]>;
  close(): Promise<void>;
};

export class MissingBytesError extends Error {
  override readonly name = "MissingBytesError";

  constructor(key: string, options?: ErrorOptions) {
    super(`The key ${key} does not exist.`, options);
  }
}
