// Real media, created by the tools on demand, so that the repository contains no binary files.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { runMediaTool } from "../../../src/platform/media/run-media-tool.ts";

export type MediaName =
  | "png"
  | "jpeg"
  | "webp"
  | "gif"
  | "mp3"
  | "wav"
  | "m4a"
  | "ogg"
  | "flac"
  | "mp4"
  | "webm"
  | "mov";

/** The properties of each that the gateway should detect. */
export const mediaTable = {
  png: { kind: "image", contentType: "image/png" },
  jpeg: { kind: "image", contentType: "image/jpeg" },
  webp: { kind: "image", contentType: "image/webp" },
  gif: { kind: "image", contentType: "image/gif" },
  mp3: { kind: "audio", contentType: "audio/mpeg" },
  wav: { kind: "audio", contentType: "audio/wav" },
  m4a: { kind: "audio", contentType: "audio/mp4" },
  ogg: { kind: "audio", contentType: "audio/ogg" },
  flac: { kind: "audio", contentType: "audio/flac" },
  mp4: { kind: "video", contentType: "video/mp4" },
  webm: { kind: "video", contentType: "video/webm" },
  mov: { kind: "video", contentType: "video/quicktime" },
} as const satisfies Record<MediaName, { kind: string; contentType: string }>;

export const mediaNames = Object.keys(mediaTable) as MediaName[];
export const mediaSize = { width: 320, height: 200, seconds: 4 };

const made = new Map<MediaName, Promise<Buffer>>();

/** A small file of the type; the same one every time. */
export function makeMedia(name: MediaName): Promise<Buffer> {
  const known = made.get(name) ?? (mediaTable[name].kind === "image" ? makePicture(name) : makeRecording(name));
  made.set(name, known);
  return known;
}

async function makePicture(name: MediaName): Promise<Buffer> {
  const { width, height } = mediaSize;
  const noise = { type: "gaussian", mean: 128, sigma: 40 } as const;
  return await sharp({ create: { width, height, channels: 3, background: "gray", noise } })
    .toFormat(name as "png" | "jpeg" | "webp" | "gif")
    .toBuffer();
}

const films: Partial<Record<MediaName, readonly string[]>> = {
  mp4: ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac", "-movflags", "+faststart"],
  mov: ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac"],
  webm: ["-c:v", "libvpx", "-c:a", "libvorbis"],
};

async function makeRecording(name: MediaName): Promise<Buffer> {
  const { width, height, seconds } = mediaSize;
  const picture = ["-f", "lavfi", "-i", `testsrc=s=${width}x${height}:d=${seconds}:r=10`];
  const sound = ["-f", "lavfi", "-i", `sine=d=${seconds}`];
  return await encode(name, [...(films[name] === undefined ? [] : picture), ...sound, ...(films[name] ?? [])]);
}

/** Runs ffmpeg with these words and the file's name at the end. */
export async function encode(extension: string, words: readonly string[]): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-media-"));
  const path = join(folder, `made.${extension}`);
  try {
    const signal = new AbortController().signal;
    const call = { tool: "ffmpeg", source: "ours", timeoutMs: 60_000, stdoutBytesMax: 1000 } as const;
    await runMediaTool({ ...call, args: [...words, `file:${path}`], signal });
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
