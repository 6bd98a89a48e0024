import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runMediaTool } from "../../../../../src/providers/adapter-tools.ts";
import type { AudioFormat, SpeechRequest } from "../../../../../src/providers/generation.ts";
import type { ReportStudio, StudioOrder } from "../studio-order.ts";
import { speakText, speechRate } from "./speak-text.ts";
import { createMp3Mark, createSampleMarker } from "./spoken-mark.ts";
import { createWavHeader } from "./wav-header.ts";

const encodeMsMax = 120_000;

/** Writes the speech of a text to a file. */
export async function makeSpeech(order: StudioOrder & { request: SpeechRequest }, report: ReportStudio): Promise<void> {
  const { request, folder } = order;
  const parts: Buffer[] = [];
  for await (const { samples, shareAfter } of speakText(request)) {
    parts.push(toBytes(samples));
    report({ kind: "progress", percent: Math.floor(95 * shareAfter) });
  }
  const name = `speech.${request.format}`;
  const partPath = join(folder, `${name}.part`);
  await writeAudio(Buffer.concat(parts), request, partPath);
  await rename(partPath, join(folder, name));
  report({ kind: "output", type: "audio", name });
}

export function toBytes(samples: Int16Array): Buffer {
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
}

type EncodedFormat = Exclude<AudioFormat, "wav" | "pcm">;

/** ffmpeg's encoder and container of each format, without an encoder tag. */
const encoders: Readonly<Record<EncodedFormat, readonly string[]>> = {
  mp3: ["-c:a", "libmp3lame", "-b:a", "64k", "-id3v2_version", "0", "-f", "mp3"],
  opus: ["-c:a", "libopus", "-b:a", "32k", "-f", "ogg"],
  aac: ["-c:a", "aac", "-b:a", "64k", "-f", "adts"],
  flac: ["-c:a", "flac", "-f", "flac"],
};

export function listEncoderArguments(format: EncodedFormat): string[] {
  return [
    ...["-f", "s16le", "-ar", String(speechRate), "-ac", "1", "-i", "pipe:0"],
    ...["-map_metadata", "-1", "-fflags", "+bitexact", "-flags:a", "+bitexact", ...encoders[format]],
  ];
}

async function writeAudio(pcm: Buffer, { format, text }: SpeechRequest, path: string): Promise<void> {
  switch (format) {
    case "pcm":
      return writeFile(path, pcm);
    case "wav":
      return writeFile(path, Buffer.concat([createWavHeader(pcm.length), createSampleMarker(text)(pcm)]));
    default:
      await runMediaTool({
        tool: "ffmpeg",
        source: "ours",
        args: [...listEncoderArguments(format), `file:${path}`],
        input: pcm,
        signal: new AbortController().signal,
        timeoutMs: encodeMsMax,
        stdoutBytesMax: 1_000_000,
      });
      if (format === "mp3") await writeFile(path, Buffer.concat([createMp3Mark(text), await readFile(path)]));
  }
}
