import type { Readable } from "node:stream";

/** The first and the last byte that are wanted, counted from 0, as in HTTP. */
export type ByteRange = { start: number; end: number };

/** Where bytes are kept under keys of ours: a folder, or a bucket. */
export type ByteStore = {
  /**
   * Keeps all bytes under a key, durable when it resolves; what fails or is aborted leaves nothing. Writing a key again
   * replaces it.
   */
  put(key: string, bytes: AsyncIterable<Uint8Array>, options: { signal: AbortSignal }): Promise<void>;
  /** Reads all or a range. Throws `MissingBytesError` where there is nothing. */
  open(key: string, range?: ByteRange): Promise<Readable>;
  /** That there is nothing is fine. */
  delete(key: string): Promise<void>;
  /** The names directly under a key's beginning, of bytes and of further beginnings, in order; `""` is the top. */
  list(folder: string): Promise<string[]>;
  close(): Promise<void>;
};

export class MissingBytesError extends Error {
  override readonly name = "MissingBytesError";

  constructor(key: string, options?: ErrorOptions) {
    super(`There are no bytes under ${key}.`, options);
  }
}
