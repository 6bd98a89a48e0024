import { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { MediaToolError, type RunningProcess, startMediaTool } from "../../../../../src/providers/adapter-tools.ts";
import { ProviderError } from "../../../../../src/providers/contract.ts";
import type { SpeechCall, SpeechProvider } from "../../../../../src/providers/generation.ts";
import { createScriptedError } from "../../sandbox-script.ts";
import type { Studio } from "../create-studio.ts";
import { findStudioObstacle } from "../find-studio-obstacle.ts";
import { startStudioProcess } from "../start-studio-process.ts";
import { parseStudioScript, type StudioScript } from "../studio-script.ts";
import { listEncoderArguments } from "./make-speech.ts";
import type { SpeechOrder } from "./speak-text.ts";
import { readSpokenAudio } from "./spoken-audio.ts";
import { createMp3Mark, createSampleMarker } from "./spoken-mark.ts";
import { createWavHeader } from "./wav-header.ts";

const pieceBytesMax = 8192;
/** For a slow listener. The caller aborts speech without one. */
const speechMsMax = 20 * 60_000;

type Speaking = {
  order: SpeechOrder;
  script: StudioScript;
  call: SpeechCall;
  signal: AbortSignal;
  /** Receives the share of the text in the audio so far. */
  onSaid(share: number): void;
};

/** Streams speech sentence by sentence. Supports the same script words as the studio. */
export function createSandboxSpeech({ studio }: { studio: Studio }): SpeechProvider {
  const controllers = new Set<AbortController>();
  return {
    findObstacle: (request) => findStudioObstacle(request, { inputs: [] }),
    async startSpeech(call) {
      call.signal.throwIfAborted();
      const { text, script } = parseStudioScript(call.request.text);
      const obstacle = findStudioObstacle({ ...call.request, text }, { inputs: [] });
      if (obstacle !== null)
        throw new ProviderError("rejected", obstacle.message, { param: obstacle.param, isIsolated: true });
      const controller = new AbortController();
      controllers.add(controller);
      const signal = AbortSignal.any([call.signal, controller.signal]);
      const { voice, speed } = call.request;
      const characters = [...call.request.text].length;
      let said = 0;
      const onSaid = (share: number): void => {
        said = share;
      };
      const chunks = listen({ order: { text, voice, speed }, script, call, signal, onSaid }, studio);
      const end = (): void => {
        controllers.delete(controller);
        controller.abort(new ProviderError("unreachable", "The speech is over."));
      };
      try {
        const first = await untilFirst(chunks, call.timeoutMs);
        return {
          chunks: continueAfter(first, chunks, end),
          spokenCharacters: () => Math.round(said * characters),
        };
      } catch (error) {
        end();
        throw error;
      }
    },
    async close() {
      for (const controller of controllers)
        controller.abort(new ProviderError("unreachable", "The studio is closing."));
    },
  };
}

async function untilFirst(chunks: AsyncGenerator<Uint8Array>, timeoutMs: number): Promise<IteratorResult<Uint8Array>> {
  const over = new AbortController();
  const first = chunks.next();
  try {
    return await Promise.race([
      first,
      wait(timeoutMs, null, { signal: over.signal, ref: false }).then(() => {
        throw new ProviderError("timeout", "The first audio took too long.");
      }),
    ]);
  } finally {
    over.abort();
    // After an abort the result is ignored.
    first.catch(() => {});
  }
}

async function* continueAfter(
  first: IteratorResult<Uint8Array>,
  rest: AsyncGenerator<Uint8Array>,
  end: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    if (first.done === true) return;
    yield first.value;
    yield* rest;
  } finally {
    end();
  }
}

/** The audio, with the delays and failures of the script. */
async function* listen(speaking: Speaking, studio: Studio): AsyncGenerator<Uint8Array> {
  const { script, signal } = speaking;
  if (script.delayMs > 0) await wait(script.delayMs, null, { signal });
  if (script.failure !== null) throw script.failure;
  if (script.isSilent || script.isStuck) await wait(speechMsMax, null, { signal, ref: false });
  if (script.isEmpty) return;
  let pieces = 0;
  for await (const chunk of speak(speaking, studio)) {
    for (let at = 0; at < chunk.length; at += pieceBytesMax) {
      if (script.cutAfterPieces !== null && pieces >= script.cutAfterPieces) {
        throw createScriptedError("unreachable", "The script breaks the connection.");
      }
      if (script.slowMs > 0 && pieces > 0) await wait(script.slowMs, null, { signal });
      yield chunk.subarray(at, at + pieceBytesMax);
      pieces += 1;
    }
  }
}

async function* speak({ order, call, signal, onSaid }: Speaking, studio: Studio): AsyncGenerator<Uint8Array> {
  const { format } = call.request;
  const { cacheDir, leave } = await studio.enterSpeech(signal);
  const running: RunningProcess[] = [];
  try {
    const program = "speech/speech-process.ts";
    const view = { reads: [], writes: [] };
    const voice = await startStudioProcess({ ...view, program, order, cacheDir, signal, timeoutMs: speechMsMax });
    running.push(voice);
    const audio = readSpokenAudio(voice.stdout, onSaid);
    if (format === "wav") yield* addHeader(createWavHeader(null), markSamples(order.text, audio));
    else if (format === "pcm") yield* audio;
    else {
      const args = [...listEncoderArguments(format), "-flush_packets", "1", "pipe:1"];
      const input = Readable.from(audio);
      const call = { tool: "ffmpeg", source: "ours", timeoutMs: speechMsMax } as const;
      const encoder = await startMediaTool({ ...call, args, input, signal });
      running.push(encoder);
      yield* format === "mp3" ? addHeader(createMp3Mark(order.text), encoder.stdout) : encoder.stdout;
    }
    for (const { ended } of running) await ended;
  } catch (error) {
    signal.throwIfAborted();
    throw await explain(error, running);
  } finally {
    for (const { kill } of running) kill(new ProviderError("unreachable", "The listener has disconnected."));
    leave();
  }
}

/** Sends the header with the first audio, so that a failure before that can still be reported. */
async function* addHeader(head: Buffer, audio: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  let header: Buffer | null = head;
  for await (const chunk of audio) {
    yield header === null ? chunk : Buffer.concat([header, chunk]);
    header = null;
  }
}

async function* markSamples(text: string, audio: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const mark = createSampleMarker(text);
  for await (const chunk of audio) yield mark(chunk);
}

/** The process's error explains more than the truncated stream. */
async function explain(error: unknown, running: readonly RunningProcess[]): Promise<ProviderError> {
  const failure = error instanceof Error ? error : new Error(String(error));
  for (const { kill } of running) kill(failure);
  const ends = await Promise.allSettled(running.map(({ ended }) => ended));
  const reasons = ends.flatMap((end): unknown[] => (end.status === "rejected" ? [end.reason] : []));
  const cause = reasons.find((reason) => reason instanceof MediaToolError) ?? failure;
  const kind = cause instanceof MediaToolError && cause.kind === "timeout" ? "timeout" : "bad-answer";
  return new ProviderError(kind, "The speech broke off.", { cause });
}
