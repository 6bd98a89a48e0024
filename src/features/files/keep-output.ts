import type { Readable } from "node:stream";
import type { AccountId, FileId } from "../../lib/ids.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { convertPicture, type PictureFormat } from "../../platform/media/convert-picture.ts";
import type { InspectedMedia, MediaKind } from "../../platform/media/inspection.ts";
import { type Spool, type SpooledFile, TooManyBytesError } from "../../platform/storage/create-spool.ts";
import type { StoredFile } from "./file.ts";
import { findFile } from "./file-store.ts";
import { type InspectionParts, inspectSpooled } from "./inspect-spooled.ts";
import { type NewFile, type StoreParts, storeOutput } from "./store-file.ts";

export type Output = {
  id: FileId;
  accountId: AccountId;
  kind: MediaKind;
  bytes: Readable;
  signal: AbortSignal;
  /** Bare samples, in which there is nothing to be checked; told by whoever asked for them. */
  samples?: { contentType: string; bytesPerSecond: number };
  /** What a picture is turned into before it is kept, where it is something else. */
  format?: PictureFormat;
};

type KeepParts = StoreParts & InspectionParts & { spool: Spool };

const param = "output";

/** Keeps what a task made, once: of any number of attempts with one id, one makes the file and all answer it. */
export async function keepOutput(
  parts: KeepParts,
  { id, accountId, kind, bytes, signal, samples, format }: Output,
): Promise<StoredFile> {
  const known = await findFile(parts.database, id);
  if (known !== null) {
    bytes.destroy();
    return known;
  }
  const spooled = await spoolOutput(parts, bytes, signal);
  try {
    const media =
      samples === undefined
        ? await inspectSpooled(parts, spooled.path, { param, kinds: [kind], signal })
        : describeSamples(spooled, samples);
    const file = { id, accountId, filename: nameOutput(media.contentType), spooled, media };
    const isAsWanted = format === undefined || (format.quality === undefined && hasFormat(media, format));
    return isAsWanted ? await storeOutput(parts, file, signal) : await storeConverted(parts, file, { format, signal });
  } finally {
    await spooled.remove();
  }
}

function hasFormat({ contentType }: InspectedMedia, { name }: PictureFormat): boolean {
  return contentType === `image/${name}`;
}

/** What comes of a conversion is looked at like everything that is kept. */
async function storeConverted(
  parts: KeepParts,
  file: Omit<NewFile, "purpose">,
  { format, signal }: { format: PictureFormat; signal: AbortSignal },
): Promise<StoredFile> {
  const spooled = await parts.inspections.run(async () => {
    signal.throwIfAborted();
    try {
      return await spoolOutput(parts, await convertPicture(file.spooled.path, format, signal), signal);
    } catch (error) {
      if (signal.aborted || error instanceof AppError) throw error;
      const message = `The file cannot be turned into ${format.name.toUpperCase()}.`;
      throw new AppError("invalid_file", message, { param, cause: error });
    }
  });
  try {
    const media = await inspectSpooled(parts, spooled.path, { param, kinds: ["image"], signal });
    return await storeOutput(parts, { ...file, filename: nameOutput(media.contentType), spooled, media }, signal);
  } finally {
    await spooled.remove();
  }
}

async function spoolOutput(
  { spool, limits: { outputBytesMax: bytesMax } }: StoreParts & { spool: Spool },
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
