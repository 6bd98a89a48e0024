import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { removeLeftovers } from "./remove-leftovers.ts";

/** Bytes on this machine's disk, until they have been looked at. */
export type SpooledFile = {
  path: string;
  bytes: number;
  sha256: Buffer;
  remove(): Promise<void>;
};

export type Spool = {
  /** Writes bytes as they come, counted and hashed on the way. What fails, is aborted or is too much leaves nothing. */
  write(bytes: AsyncIterable<Uint8Array>, limits: { bytesMax: number; signal: AbortSignal }): Promise<SpooledFile>;
};

export class TooManyBytesError extends Error {
  override readonly name = "TooManyBytesError";
}

/** Files of one process that nobody else reads: programs that look into media want a file. */
export async function createSpool({ folder }: { folder: string }): Promise<Spool> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await removeLeftovers(folder);

  return {
    async write(bytes, { bytesMax, signal }) {
      // Several processes may share the folder, so that the system finds a name that nobody has.
      const place = await mkdtemp(join(folder, "file-"));
      const path = join(place, "bytes");
      const hash = createHash("sha256");
      let total = 0;
      async function* measure(source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
        for await (const chunk of source) {
          total += chunk.length;
          if (total > bytesMax) throw new TooManyBytesError(`There are more than ${bytesMax} bytes.`);
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
