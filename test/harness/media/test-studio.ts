import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createSandboxGeneration } from "../../../packages/sandbox/src/studio/create-sandbox-generation.ts";
import { createStudio } from "../../../packages/sandbox/src/studio/create-studio.ts";
import { createSandboxSpeech } from "../../../packages/sandbox/src/studio/speech/create-sandbox-speech.ts";
import { type Clock, systemClock } from "../../../src/lib/clock.ts";
import { runMediaTool } from "../../../src/platform/media/run-media-tool.ts";
import type {
  GenerationCall,
  GenerationInput,
  GenerationProvider,
  GenerationRequest,
  Handle,
  PollOutcome,
  SpeechProvider,
} from "../../../src/providers/generation.ts";
import { waitUntil } from "../wait-until.ts";

export type TestStudio = AsyncDisposable & {
  folder: string;
  generation: GenerationProvider;
  speech: SpeechProvider;
  /** Submits a job and waits for its end. */
  finish(call: GenerationCall): Promise<Exclude<PollOutcome, { kind: "running" }>>;
  /** The outputs of a request. */
  make(request: GenerationRequest, inputs?: readonly GenerationInput[]): Promise<Buffer[]>;
  /** Stores bytes as a file until the studio is closed. */
  keep(bytes: Buffer, name: string): Promise<string>;
};

type StudioOptions = { clock?: Clock; concurrencyMax?: number; folder?: string };

/** Encoding takes real time, especially on a busy machine. */
export const studioMsMax = 240_000;

/** Fonts and compiled code that the processes of all studios share: the first one fills it. */
const sharedCacheDir = join(tmpdir(), "sluice-studio-cache");

let callCount = 0;

export function createCall(request: GenerationRequest, inputs: readonly GenerationInput[] = []): GenerationCall {
  callCount += 1;
  const signal = new AbortController().signal;
  return {
    taskId: `task_${callCount}`,
    request,
    inputs,
    route: {},
    upstreamModel: "studio",
    apiKey: null,
    timeoutMs: studioMsMax,
    signal,
  };
}

export function createInput(role: GenerationInput["role"], bytes: Buffer, contentType: string): GenerationInput {
  return { role, contentType, bytes: bytes.length, url: null, open: async () => Readable.from([bytes]) };
}

export async function openTestStudio({
  clock = systemClock,
  concurrencyMax = 2,
  folder,
}: StudioOptions = {}): Promise<TestStudio> {
  const ownFolder = await mkdtemp(join(tmpdir(), "studio-"));
  const studioFolder = folder ?? join(ownFolder, "studio");
  if (folder === undefined) {
    for (const path of [sharedCacheDir, studioFolder]) await mkdir(path, { recursive: true });
    await symlink(sharedCacheDir, join(studioFolder, "cache"));
  }
  const studio = createStudio({ folder: studioFolder, clock, concurrencyMax });
  const generation = createSandboxGeneration({ studio });
  const speech = createSandboxSpeech({ studio });
  const finish: TestStudio["finish"] = async (call) => {
    const outcome = await generation.submit(call);
    if (outcome.kind !== "accepted") throw new Error(`The work was not accepted: ${outcome.kind}`);
    return waitForEnd(generation, outcome.handle, call);
  };
  return {
    folder: studioFolder,
    generation,
    speech,
    finish,
    async make(request, inputs = []) {
      const end = await finish(createCall(request, inputs));
      if (end.kind !== "done")
        throw new Error(`It ended as ${end.kind}`, { cause: end.kind === "failed" ? end.error : null });
      return Promise.all(end.outputs.map(async (output) => buffer(await output.open(new AbortController().signal))));
    },
    async keep(bytes, name) {
      const path = join(ownFolder, name);
      await writeFile(path, bytes);
      return path;
    },
    async [Symbol.asyncDispose]() {
      await speech.close();
      await generation.close();
      await rm(ownFolder, { recursive: true, force: true });
    },
  };
}

export async function waitForEnd(
  generation: GenerationProvider,
  handle: Handle,
  call: GenerationCall,
): Promise<Exclude<PollOutcome, { kind: "running" }>> {
  const look = async () => {
    const outcome = await generation.poll(handle, call);
    return outcome.kind === "running" ? null : outcome;
  };
  return waitUntil("the end of the work", look, studioMsMax);
}

export type Probe = {
  format: { duration: string; format_name: string };
  streams: {
    codec_type: string;
    codec_name: string;
    width?: number;
    height?: number;
    pix_fmt?: string;
    duration?: string;
    nb_read_frames?: string;
    sample_rate?: string;
    channels?: number;
    r_frame_rate?: string;
  }[];
};

export async function probe(path: string, demuxer: string): Promise<Probe> {
  const args = ["-f", demuxer, "-of", "json", "-count_frames", "-show_format", "-show_streams", `file:${path}`];
  const { stdout } = await runMediaTool({ ...toolLimits, tool: "ffprobe", args });
  return JSON.parse(stdout.toString());
}

/** Frames of a video at some times, small and grey: one byte per pixel. */
export async function readFrames(path: string, framesPerSecond: number): Promise<Buffer[]> {
  const args = [
    "-f",
    "mov",
    "-i",
    `file:${path}`,
    "-vf",
    `fps=${framesPerSecond},scale=64:64,format=gray`,
    "-f",
    "rawvideo",
    "pipe:1",
  ];
  const { stdout } = await runMediaTool({ ...toolLimits, tool: "ffmpeg", args });
  return Array.from({ length: stdout.length / 4096 }, (_, index) => stdout.subarray(index * 4096, (index + 1) * 4096));
}

/** Any audio as 16-bit mono samples at 24 000 Hz. */
export async function readSamples(path: string, demuxer: string): Promise<Int16Array> {
  const args = ["-f", demuxer, "-i", `file:${path}`, "-vn", "-ac", "1", "-ar", "24000", "-f", "s16le", "pipe:1"];
  const { stdout } = await runMediaTool({ ...toolLimits, tool: "ffmpeg", args });
  return new Int16Array(new Uint8Array(stdout).buffer);
}

const toolLimits = {
  source: "ours",
  signal: new AbortController().signal,
  timeoutMs: 60_000,
  stdoutBytesMax: 100_000_000,
} as const;

/** The average difference per pixel of two images of the same size. */
export function compareBytes(one: Uint8Array, other: Uint8Array): number {
  return one.reduce((sum, value, index) => sum + Math.abs(value - (other[index] ?? 0)), 0) / Math.max(1, one.length);
}
