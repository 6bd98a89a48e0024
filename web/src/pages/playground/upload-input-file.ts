import { ApiError, connection } from "../../api/console-api.ts";
import type { FileKind } from "./media-fields.ts";
import type { KeptFile } from "./media-values.ts";

const images = ["image/png", "image/jpeg", "image/webp", "image/gif"];
const sounds = ["audio/mpeg", "audio/wav", "audio/mp4", "audio/ogg", "audio/flac"];
const videos = ["video/mp4", "video/webm", "video/quicktime"];
const measureMsMax = 3_000;

/** Accepted types per kind of field. */
export const fileKinds: Record<FileKind, { starts: readonly string[]; accept: string; words: string }> = {
  image: { starts: ["image/"], accept: images.join(","), words: "PNG, JPEG, WebP or GIF" },
  audio: { starts: ["audio/"], accept: [...sounds, ".m4a"].join(","), words: "MP3, WAV, M4A, OGG or FLAC" },
  person: {
    starts: ["image/", "video/"],
    accept: [...images, ...videos].join(","),
    words: "an image (PNG, JPEG, WebP, GIF) or a video (MP4, WebM, MOV)",
  },
};

/** Some systems report no type; then the API decides. */
export function isOfKind(contentType: string, kind: FileKind): boolean {
  return contentType === "" || fileKinds[kind].starts.some((start) => contentType.startsWith(start));
}

type SendOptions = { kind: FileKind; signal: AbortSignal; onProgress(percent: number): void };

/**
 * Uploads with XMLHttpRequest, since fetch reports no upload progress. The API detects the type from the content, so a
 * wrong kind may surface only then.
 */
export async function uploadFile(file: File, { kind, signal, onProgress }: SendOptions): Promise<KeptFile> {
  const seconds = kind === "audio" ? await measureFile(file) : null;
  const { promise, resolve, reject } = Promise.withResolvers<XMLHttpRequest>();
  const request = new XMLHttpRequest();
  request.open("POST", "/console/api/files");
  request.responseType = "json";
  request.upload.onprogress = ({ loaded, total }) => onProgress(Math.floor((100 * loaded) / Math.max(1, total)));
  request.onload = () => resolve(request);
  request.onerror = () => {
    connection.suspect();
    reject(createUnreachable());
  };
  request.onabort = () => reject(signal.reason);
  signal.addEventListener("abort", () => request.abort());
  const form = new FormData();
  form.set("purpose", "generation");
  form.set("file", file);
  request.send(form);
  const { status, response } = await promise;
  if (status !== 200) throw readRefusal(request);
  const kept: KeptFile = {
    id: response.file_id,
    name: response.filename,
    contentType: response.content_type,
    bytes: response.bytes,
    seconds,
  };
  if (!isOfKind(kept.contentType, kind)) throw new Error(describeWrongKind(file, kind));
  return kept;
}

export function describeWrongKind({ name }: { name: string }, kind: FileKind): string {
  return `${name} has the wrong type. Choose ${fileKinds[kind].words}.`;
}

function createUnreachable(): ApiError {
  return new ApiError({
    status: 0,
    code: "unreachable",
    message: "The upload failed. Check your connection and the file size, then try again.",
  });
}

function readRefusal({ status, response }: XMLHttpRequest): ApiError {
  const error = response?.error ?? {};
  return new ApiError({
    status,
    code: String(error.code ?? "unreadable"),
    message: String(error.message ?? "The server sent an unreadable response. Try again."),
    requestId: typeof response?.request_id === "string" ? response.request_id : null,
  });
}

async function measureFile(file: File): Promise<number | null> {
  const url = URL.createObjectURL(file);
  const seconds = await measureSeconds(url);
  URL.revokeObjectURL(url);
  return seconds;
}

/** Duration for the estimate; `null` if the browser cannot decode the format. */
export async function measureSeconds(url: string): Promise<number | null> {
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const audio = new Audio();
  const timer = setTimeout(() => resolve(null), measureMsMax);
  audio.preload = "metadata";
  audio.onloadedmetadata = () => resolve(Number.isFinite(audio.duration) ? audio.duration : null);
  audio.onerror = () => resolve(null);
  audio.src = url;
  const seconds = await promise;
  clearTimeout(timer);
  return seconds;
}
