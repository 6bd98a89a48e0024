import type { Semaphore } from "../../lib/semaphore.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { OperatorError } from "../../platform/errors/operator-error.ts";
import type { ImageReader } from "../../platform/media/create-image-reader.ts";
import { findSound, type SoundFinding } from "../../platform/media/find-sound.ts";
import { inspectMedia } from "../../platform/media/inspect-media.ts";
import type { InspectedMedia } from "../../platform/media/inspection.ts";
import type { FileKind } from "./file.ts";

export type WantedMedia = { param: string; kinds: readonly FileKind[] };

export type Inspect = (path: string, wanted: WantedMedia & { signal: AbortSignal }) => Promise<InspectedMedia>;

const allKinds: readonly FileKind[] = ["image", "audio", "video", "pdf"];

export const anyMedia = (param: string): WantedMedia => ({ param, kinds: allKinds });

/** Inspects a file on the local disk; throws an error that names the field if its kind is not wanted. */
export async function inspectSpooled(
  { inspections, images }: { inspections: Semaphore; images: ImageReader },
  path: string,
  { param, kinds, signal }: WantedMedia & { signal: AbortSignal },
): Promise<InspectedMedia> {
  const inspection = await inspections.run(async () => {
    signal.throwIfAborted();
    return await inspectMedia(path, { images, signal }).catch(explainMissing);
  });
  if (inspection.kind === "refused") {
    throw new AppError("invalid_file", `The file ${inspection.reason}.`, { param, cause: inspection.cause });
  }
  const formats = kinds.flatMap((kind) => formatsByKind[kind]).join(", ");
  requireKind(inspection.media.kind, { param, kinds }, ` Send ${formats}.`);
  return inspection.media;
}

/** A recording with audible sound: audio, or a video with a sound track. */
export type SoundRecording = { contentType: string; durationMs: number };

const problems = {
  "no-track": "The file has no audio track.",
  silent: "The recording is silent.",
} as const satisfies Record<Exclude<SoundFinding, "heard">, string>;

/** Inspects a recording on the local disk; throws an error that names the field if it has no audible sound. */
export async function inspectSound(
  { inspect, inspections }: { inspect: Inspect; inspections: Semaphore },
  path: string,
  { param }: { param: string },
): Promise<SoundRecording> {
  const { signal } = new AbortController();
  const { contentType, durationMs } = await inspect(path, { param, kinds: ["audio", "video"], signal });
  const finding = await inspections.run(() => findSound(path, { contentType, signal }));
  if (finding !== "heard") throw new AppError("invalid_file", problems[finding], { param });
  return { contentType, durationMs: durationMs ?? 0 };
}

/** ffmpeg is missing, which is not the file's fault; the log has the remedy for the operator. */
function explainMissing(error: unknown): never {
  if (!(error instanceof OperatorError)) throw error;
  const { remedy } = error;
  throw new AppError("internal_error", "This service cannot accept video and audio at present. Images are accepted.", {
    detail: { remedy },
    cause: error,
  });
}

const names = {
  image: "an image",
  audio: "audio",
  video: "a video",
  document: "a document",
  pdf: "a PDF",
} as const satisfies Record<FileKind, string>;

/** The formats that an upload may have; documents are not uploaded. */
const formatsByKind = {
  image: ["PNG", "JPEG", "WebP", "GIF"],
  audio: ["MP3", "WAV", "M4A", "OGG", "FLAC"],
  video: ["MP4", "WebM", "MOV"],
  document: [],
  pdf: ["PDF"],
} as const satisfies Record<FileKind, readonly string[]>;

export function requireKind(kind: FileKind, { param, kinds }: WantedMedia, remedy = ""): void {
  if (kinds.includes(kind)) return;
  const wanted = kinds.map((other) => names[other]).join(" or ");
  throw new AppError("invalid_file", `The file is ${names[kind]}, but ${wanted} is required.${remedy}`, { param });
}
