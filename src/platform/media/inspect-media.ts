import { findContainerEnd } from "./container-end.ts";
import type { PictureReader } from "./create-picture-reader.ts";
import { type FileWindow, withFileWindow } from "./file-window.ts";
import { hasForeignContent } from "./foreign-content.ts";
import { inspectPicture } from "./inspect-picture.ts";
import { inspectRecording } from "./inspect-recording.ts";
import { type Inspection, refuse } from "./inspection.ts";
import { acceptedTypes, detectMediaType, headBytes, type MediaType } from "./media-type.ts";
import { framesMax } from "./read-picture.ts";

const paddingBytesMax = 64 * 1024;

/**
 * Decides what a stranger's file is: by its first bytes, then by its structure, then by reading it. Neither its name nor
 * what was said of it counts. Refused is what is no accepted type, is damaged or not whole, is something else as well,
 * or would cost too much to open.
 */
export async function inspectMedia(
  path: string,
  { pictures, signal }: { pictures: PictureReader; signal: AbortSignal },
): Promise<Inspection> {
  const known = await withFileWindow(path, inspectStructure);
  if ("kind" in known) return known;
  return known.reader === "sharp"
    ? await inspectPicture(path, known, { pictures, signal })
    : await inspectRecording(path, known, signal);
}

async function inspectStructure(file: FileWindow): Promise<MediaType | Inspection> {
  if (file.size === 0) return refuse("is empty");
  const type = detectMediaType(await file.read(0, headBytes));
  if (type === null) return refuse(`must be ${acceptedTypes}, which its content decides and not its name`);
  const container = await findContainerEnd(file, type);
  if (container !== null && container.end > file.size) return refuse("is damaged or not whole");
  if (container !== null && !(await isPadding(file, container.end))) {
    return refuse("has something else behind its end");
  }
  if (container !== null && container.frames > framesMax) return refuse(`has more than ${framesMax} frames`);
  if (await hasForeignContent(file)) return refuse("is something else at the same time, such as an archive or a page");
  return type;
}

async function isPadding(file: FileWindow, end: number): Promise<boolean> {
  if (file.size - end > paddingBytesMax) return false;
  const rest = await file.read(end, file.size - end);
  return rest.every((byte) => byte === 0);
}
