import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runMediaTool } from "../../../../../src/providers/adapter-tools.ts";
import type { SpeechRequest } from "../../../../../src/providers/generation.ts";
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

/** ffmpeg's arguments for an MP3 of speech, without an encoder tag. */
export const mp3Arguments = [
  ...["-f", "s16le", "-ar", String(speechRate), "-ac", "1", "-i", "pipe:0"],
  ...["-c:a", "libmp3lame", "-b:a", "64k", "-map_metadata", "-1", "-fflags", "+bitexact", "-flags:a", "+bitexact"],
  ...["-id3v2_version", "0", "-f", "mp3"],
];

async function writeAudio(pcm: Buffer, { format, text }: SpeechRequest, path: string): Promise<void> {
  switch (format) {
    case "pcm":
      return writeFile(path, pcm);
    case "wav":
      return writeFile(path, Buffer.concat([createWavHeader(pcm.length), createSampleMarker(text)(pcm)]));
    case "mp3":
      await runMediaTool({
        tool: "ffmpeg",
        source: "ours",
        args: [...mp3Arguments, `file:${path}`],
        input: pcm,
        signal: new AbortController().signal,
        timeoutMs: encodeMsMax,
        stdoutBytesMax: 1_000_000,
      });
      await writeFile(path, Buffer.concat([createMp3Mark(text), await readFile(path)]));
  }
}
