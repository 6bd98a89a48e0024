import { findContainerEnd } from "./container-end.ts";
import type { ImageReader } from "./create-image-reader.ts";
import { type FileWindow, withFileWindow } from "./file-window.ts";
import { hasForeignContent } from "./foreign-content.ts";
import { inspectRecording } from "./inspect-recording.ts";
import { type Inspection, refuse } from "./inspection.ts";
import { acceptedTypes, detectMediaType, headBytes, type MediaType } from "./media-type.ts";
import { animationPixelsMax, framesMax, pixelsMax, sideMax } from "./read-image.ts";

const paddingBytesMax = 64 * 1024;
const pdfTailBytes = 1024;

/**
 * Determines the type of a user-supplied file from its first bytes, its structure and a full decode; never from its name
 * or declared type. Rejects unsupported, damaged, incomplete and polyglot files, and those too expensive to open.
 */
export async function inspectMedia(
  path: string,
  { images, signal }: { images: ImageReader; signal: AbortSignal },
): Promise<Inspection> {
  const known = await withFileWindow(path, inspectStructure);
  if ("kind" in known) return known;
  return known.reader === "sharp"
    ? await inspectImage(path, known, { images, signal })
    : await inspectRecording(path, known, signal);
}

async function inspectStructure(file: FileWindow): Promise<MediaType | Inspection> {
  if (file.size === 0) return refuse("is empty");
  const head = await file.read(0, headBytes);
  if (head.toString("latin1", 0, 5) === "%PDF-") return await inspectPdf(file);
  const type = detectMediaType(head);
  if (type === null) return refuse(`must be ${acceptedTypes}, detected from its content`);
  const container = await findContainerEnd(file, type);
  if (container !== null && container.end > file.size) return refuse("is damaged or incomplete");
  if (container !== null && !(await isPadding(file, container.end))) {
    return refuse("has extra data after its end");
  }
  if (container !== null && container.frames > framesMax) return refuse(`has more than ${framesMax} frames`);
  if (await hasForeignContent(file)) return refuse("is also valid as another format, such as an archive or a page");
  return type;
}

/** Nothing here opens a PDF: the model's vendor does. Nothing may follow its end, such as an archive. */
async function inspectPdf(file: FileWindow): Promise<Inspection> {
  const tailStart = Math.max(0, file.size - pdfTailBytes);
  const tail = (await file.read(tailStart, file.size - tailStart)).toString("latin1");
  if (!/%%EOF\s*$/.test(tail)) return refuse("is damaged or incomplete, or has extra data after its end");
  const media = { kind: "pdf", contentType: "application/pdf", width: null, height: null, durationMs: null } as const;
  return { kind: "accepted", media };
}

/** A confined process decodes the whole image. */
async function inspectImage(
  path: string,
  type: Extract<MediaType, { reader: "sharp" }>,
  { images, signal }: { images: ImageReader; signal: AbortSignal },
): Promise<Inspection> {
  const report = await images.read(path, signal);
  switch (report.kind) {
    case "too-many-pixels":
      return refuse(`has more than ${pixelsMax / 1e6} megapixels or ${sideMax} pixels on a side`);
    case "too-many-frames":
      return refuse(`has more than ${framesMax} frames or ${animationPixelsMax / 1e6} megapixels in all of them`);
    case "unreadable":
      return refuse("is damaged or incomplete", report.complaint);
    case "read": {
      const { format, width, height } = report;
      if (format !== type.name) return refuse(`is damaged, or not a valid ${type.name.toUpperCase()}`);
      const { contentType } = type;
      return { kind: "accepted", media: { kind: "image", contentType, width, height, durationMs: null } };
    }
  }
}

async function isPadding(file: FileWindow, end: number): Promise<boolean> {
  if (file.size - end > paddingBytesMax) return false;
  const rest = await file.read(end, file.size - end);
  return rest.every((byte) => byte === 0);
}
