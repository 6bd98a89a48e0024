import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createSemaphore } from "../../lib/semaphore.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { OperatorError } from "../../platform/errors/operator-error.ts";
import { convertImage } from "../../platform/media/convert-image.ts";
import { drawPoster } from "../../platform/media/draw-poster.ts";
import { MediaToolError } from "../../platform/media/media-tool-error.ts";
import { type ByteStore, MissingBytesError } from "../../platform/storage/byte-store.ts";
import { nameThumbnail, type StoredFile } from "./file.ts";
import type { FileDependencies } from "./file-dependencies.ts";
import { findFile } from "./file-store.ts";
import { createFileNotFound, openFile } from "./get-file.ts";

type Thumbnail = { contentType: string; bytes: Buffer };

export type Thumbnails = {
  /**
   * A small version of an image, or a frame of a video: created on the first request and stored beside the file's bytes.
   * Throws `file_not_found` for other kinds.
   */
  read(file: StoredFile): Promise<Thumbnail>;
};

const sideMax = 640;
const quality = 78;
/** Larger videos get no thumbnail, because the whole file would have to be copied. */
const sourceBytesMax = 256 * 1024 * 1024;
const makeMsMax = 60_000;
/** One at a time, so that scrolling through a list takes no CPU from paid work. */
const madeAtOnceMax = 1;
const waitingMax = 200;

export function createThumbnails(dependencies: FileDependencies): Thumbnails {
  const { database, bytes, spool } = dependencies;
  const permits = createSemaphore(madeAtOnceMax);
  const underWay = new Map<string, Promise<Thumbnail>>();

  async function make(file: StoredFile): Promise<Thumbnail> {
    const signal = AbortSignal.timeout(makeMsMax);
    const spooled = await spool.write(await openFile(dependencies, file), { bytesMax: sourceBytesMax, signal });
    try {
      const made = await draw(file, spooled.path, signal);
      if (made === null) throw createFileNotFound();
      const key = nameThumbnail(file.storageKey);
      await bytes.put(key, Readable.from([made]), { signal });
      // A deletion from here on also deletes the thumbnail; an earlier one missed it.
      if ((await findFile(database, file.id)) === null) await bytes.delete(key);
      return { contentType: contentTypes[file.kind === "video" ? "video" : "image"], bytes: made };
    } finally {
      await spooled.remove();
    }
  }

  /** Concurrent requests share one thumbnail. */
  function makeOnce(file: StoredFile): Promise<Thumbnail> {
    const known = underWay.get(file.id);
    if (known !== undefined) return known;
    if (underWay.size >= waitingMax) {
      throw new AppError("overloaded", "Too many thumbnails are being created. Try again in a moment.");
    }
    const made = permits.run(() => make(file)).finally(() => underWay.delete(file.id));
    underWay.set(file.id, made);
    return made;
  }

  return {
    async read(file) {
      if (file.kind !== "image" && file.kind !== "video") throw createFileNotFound();
      if (file.bytes > sourceBytesMax) throw createFileNotFound();
      const kept = await readIfThere(bytes, nameThumbnail(file.storageKey));
      return kept === null ? await makeOnce(file) : { contentType: contentTypes[file.kind], bytes: kept };
    },
  };
}

const contentTypes = { image: "image/webp", video: "image/jpeg" } as const;

async function draw(file: StoredFile, path: string, signal: AbortSignal): Promise<Buffer | null> {
  if (file.kind === "video") return await drawPoster({ ...file, path }, { sideMax, signal }).catch(explainMissing);
  return await buffer(await convertImage(path, { name: "webp", quality, sideMax }, signal));
}

/** Without ffmpeg, clients show the video itself. */
function explainMissing(error: unknown): null {
  if (error instanceof OperatorError || error instanceof MediaToolError) return null;
  throw error;
}

async function readIfThere(bytes: ByteStore, key: string): Promise<Buffer | null> {
  try {
    return await buffer(await bytes.open(key));
  } catch (error) {
    if (error instanceof MissingBytesError) return null;
    throw error;
  }
}
