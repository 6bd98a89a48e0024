import type { Readable } from "node:stream";
import type { AccountId, FileId } from "../../lib/ids.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { InspectedMedia, MediaKind } from "../../platform/media/inspection.ts";
import { type Spool, type SpooledFile, TooManyBytesError } from "../../platform/storage/create-spool.ts";
import type { StoredFile } from "./file.ts";
import { findFile } from "./file-store.ts";
import { type InspectionParts, inspectSpooled } from "./inspect-spooled.ts";
import { type StoreParts, storeOutput } from "./store-file.ts";

export type Output = {
  id: FileId;
  accountId: AccountId;
  kind: MediaKind;
  bytes: Readable;
  signal: AbortSignal;
  /** Bare samples, in which there is nothing to be checked; told by whoever asked for them. */
  samples?: { contentType: string; bytesPerSecond: number };
};

const param = "output";

/** Keeps what a task made, once: of any number of attempts with one id, one makes the file and all answer it. */
export async function keepOutput(
  parts: StoreParts & InspectionParts & { spool: Spool },
  { id, accountId, kind, bytes, signal, samples }: Output,
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
    const filename = nameOutput(media.contentType);
    return await storeOutput(parts, { id, accountId, filename, spooled, media }, signal);
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
