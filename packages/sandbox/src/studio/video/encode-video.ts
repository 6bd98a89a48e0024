import { Readable } from "node:stream";
import { type MediaToolCall, plainOutput, runMediaTool } from "../../../../../src/providers/adapter-tools.ts";
import { framesPerSecond } from "./video-sizes.ts";

export type VideoSource = {
  path: string;
  width: number;
  height: number;
  seconds: number;
  /** Of the frames: 4 bytes a pixel, or in planes. */
  pixelFormat: "rgba" | "yuv420p";
  /** Each a buffer of its own. */
  frames: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** What the encoder reads the sound from, with its own options. */
  soundInput: readonly string[];
  /** Whose sound it is. */
  source: MediaToolCall["source"];
  timeoutMs: number;
};

export const videoCodecs = [
  ...["-c:v", "libx264", "-preset", "superfast", "-crf", "22", "-pix_fmt", "yuv420p", "-threads", "2"],
  ...["-c:a", "aac", "-b:a", "128k", "-ar", "44100"],
  ...["-movflags", "+faststart", "-f", "mp4"],
];

/** Writes an MP4 that plays while it is still being loaded. */
export async function encodeVideo({
  path,
  width,
  height,
  seconds,
  pixelFormat,
  frames,
  soundInput,
  source,
  timeoutMs,
}: VideoSource): Promise<void> {
  await runMediaTool({
    tool: "ffmpeg",
    source,
    args: [
      ...[
        "-f",
        "rawvideo",
        "-pix_fmt",
        pixelFormat,
        "-s",
        `${width}x${height}`,
        "-r",
        String(framesPerSecond),
        "-i",
        "pipe:0",
      ],
      ...soundInput,
      ...["-map", "0:v:0", "-map", "1:a:0", "-t", seconds.toFixed(6)],
      ...plainOutput,
      ...videoCodecs,
      `file:${path}`,
    ],
    input: Readable.from(frames, { objectMode: true, highWaterMark: 1 }),
    // The whole process is ended from outside; this is only for a tool that hangs.
    signal: new AbortController().signal,
    timeoutMs,
    stdoutBytesMax: 1_000_000,
  });
}
