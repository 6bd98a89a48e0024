import type { Readable } from "node:stream";
import type { AccountId, FileId } from "../../lib/ids.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { convertImage, type ImageFormat } from "../../platform/media/convert-image.ts";
import type { InspectedMedia, MediaKind } from "../../platform/media/inspection.ts";
import { type SpooledFile, TooManyBytesError } from "../../platform/storage/create-spool.ts";
import type { NewFile } from "./create-file-storage.ts";
import type { StoredFile } from "./file.ts";
import type { FileDependencies } from "./file-dependencies.ts";
import { findFile } from "./file-store.ts";

export type Output = {
  id: FileId;
  accountId: AccountId;
  kind: MediaKind;
  bytes: Readable;
  signal: AbortSignal;
  /** Headerless samples, whose format only the caller knows. */
  samples?: { contentType: string; bytesPerSecond: number };
  /** Of a recording that the gateway encoded itself, which needs no inspection. */
  media?: InspectedMedia;
  /** The format to convert an image to, if it is not already in it. */
  format?: ImageFormat;
};

const param = "output";

/** Stores a task's output idempotently: of several attempts with one id, one creates the file and all return it. */
export async function keepOutput(
  dependencies: FileDependencies,
  { id, accountId, kind, bytes, signal, samples, media: known, format }: Output,
): Promise<StoredFile> {
  const { database, storage, inspect } = dependencies;
  const kept = await findFile(database, id);
  if (kept !== null) {
    bytes.destroy();
    return kept;
  }
  const spooled = await spoolOutput(dependencies, bytes, signal);
  try {
    const media =
      known ??
      (samples === undefined
        ? await inspect(spooled.path, { param, kinds: [kind], signal })
        : describeSamples(spooled, samples));
    const file = { id, accountId, filename: nameOutput(media.contentType), spooled, media };
    const isAsWanted = format === undefined || (format.quality === undefined && hasFormat(media, format));
    if (isAsWanted) return await storage.storeOutput(file, signal);
    return await storeConverted(dependencies, file, { format, signal });
  } finally {
    await spooled.remove();
  }
}

function hasFormat({ contentType }: InspectedMedia, { name }: ImageFormat): boolean {
  return contentType === `image/${name}`;
}

/** A converted file is inspected like any other. */
async function storeConverted(
  dependencies: FileDependencies,
  file: Omit<NewFile, "purpose">,
  { format, signal }: { format: ImageFormat; signal: AbortSignal },
): Promise<StoredFile> {
  const { inspect, inspections, storage } = dependencies;
  const spooled = await inspections.run(async () => {
    signal.throwIfAborted();
    try {
      return await spoolOutput(dependencies, await convertImage(file.spooled.path, format, signal), signal);
    } catch (error) {
      if (signal.aborted || error instanceof AppError) throw error;
      const message = `The file could not be converted to ${format.name.toUpperCase()}.`;
      throw new AppError("invalid_file", message, { param, cause: error });
    }
  });
  try {
    const media = await inspect(spooled.path, { param, kinds: ["image"], signal });
    return await storage.storeOutput({ ...file, filename: nameOutput(media.contentType), spooled, media }, signal);
  } finally {
    await spooled.remove();
  }
}

async function spoolOutput(
  { spool, limits: { outputBytesMax: bytesMax } }: FileDependencies,
  bytes: Readable,
  signal: AbortSignal,
): Promise<SpooledFile> {
  try {
    return await spool.write(bytes, { bytesMax, signal });
  } catch (error) {
    if (!(error instanceof TooManyBytesError)) throw error;
    throw new AppError("invalid_file", `The file is larger than ${bytesMax} bytes.`, { param, cause: error });
  }
}

function describeSamples(
  { bytes }: SpooledFile,
  { contentType, bytesPerSecond }: NonNullable<Output["samples"]>,
): InspectedMedia {
  if (bytes === 0) throw new AppError("invalid_file", "The file is empty.", { param });
  return {
    kind: "audio",
    contentType,
    width: null,
    height: null,
    durationMs: Math.round((bytes / bytesPerSecond) * 1000),
  };
}

const extensions: Record<string, string> = {
  "image/jpeg": "jpg",
  "audio/mpeg": "mp3",
  "audio/mp4": "m4a",
  "video/quicktime": "mov",
};

function nameOutput(contentType: string): string {
  return `output.${extensions[contentType] ?? contentType.split("/")[1]}`;
}
