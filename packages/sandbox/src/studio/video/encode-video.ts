import { Readable } from "node:stream";
import { type MediaToolCall, plainOutput, runMediaTool } from "../../../../../src/providers/adapter-tools.ts";
import { framesPerSecond } from "./video-sizes.ts";

export type VideoSource = {
  path: string;
  width: number;
  height: number;
  seconds: number;
  /** The format of the frames: RGBA, or planar. */
  pixelFormat: "rgba" | "yuv420p";
  /** Each frame is its own buffer. */
  frames: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** The encoder's sound input, with its options. */
  soundInput: readonly string[];
  /** The origin of the sound. */
  source: MediaToolCall["source"];
  timeoutMs: number;
};

export const videoCodecs = [
  ...["-c:v", "libx264", "-preset", "superfast", "-crf", "22", "-pix_fmt", "yuv420p", "-threads", "2"],
  ...["-c:a", "aac", "-b:a", "128k", "-ar", "44100"],
  ...["-movflags", "+faststart", "-f", "mp4"],
];

/** Writes an MP4 that can be played while it loads. */
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
    // The process is killed from outside; the timeout is only for a tool that hangs.
    signal: new AbortController().signal,
    timeoutMs,
    stdoutBytesMax: 1_000_000,
  });
}
