import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { removeLeftovers } from "./remove-leftovers.ts";

/** A temporary file for inspection. */
export type SpooledFile = {
  path: string;
  bytes: number;
  sha256: Buffer;
  remove(): Promise<void>;
};

export type Spool = {
  /** Writes a stream, counts and hashes it. A failed, aborted or too large write leaves nothing. */
  write(bytes: AsyncIterable<Uint8Array>, limits: { bytesMax: number; signal: AbortSignal }): Promise<SpooledFile>;
};

export class TooManyBytesError extends Error {
  override readonly name = "TooManyBytesError";
}

/** Temporary files for media tools, which need a path. */
export async function createSpool({ folder }: { folder: string }): Promise<Spool> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await removeLeftovers(folder);

  return {
    async write(bytes, { bytesMax, signal }) {
      // Processes may share the folder; mkdtemp picks a unique name.
      const place = await mkdtemp(join(folder, "file-"));
      const path = join(place, "bytes");
      const hash = createHash("sha256");
      let total = 0;
      async function* measure(source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
        for await (const chunk of source) {
          total += chunk.length;
          if (total > bytesMax) throw new TooManyBytesError(`The file exceeds ${bytesMax} bytes.`);
          hash.update(chunk);
          yield chunk;
        }
      }
      const remove = (): Promise<void> => rm(place, { recursive: true, force: true });
      try {
        await pipeline(bytes, measure, createWriteStream(path, { flags: "wx", mode: 0o600 }), { signal });
      } catch (error) {
        await remove();
        throw error;
      }
      return { path, bytes: total, sha256: hash.digest(), remove };
    },
  };
}
