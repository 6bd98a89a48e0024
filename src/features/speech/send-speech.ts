import { ProviderError } from "../../providers/contract.ts";
import type { SpeechAudio, SpeechProvider, SpeechRequest } from "../../providers/generation.ts";
import { readApiKey } from "../../providers/provider-setup.ts";
import type { CallAttempt, CallRun, CallSink } from "../calls/index.ts";
import type { RouteTarget } from "../catalog/index.ts";
import { countCharacters } from "../tasks/index.ts";

export type SpeechTarget = RouteTarget & { speech: SpeechProvider; timeoutMs: number };

export type SpokenUsage = { characters: number; hasHungUp: boolean };

/** What a paid call speaks of where it is speech. */
export type SpeechKinds = {
  target: SpeechTarget;
  delta: Uint8Array;
  answer: never;
  reported: { characters: number };
  usage: SpokenUsage;
};

type Spoken = CallAttempt & { requestId: string; request: SpeechRequest; onAudio(audio: SpeechAudio): void };

/** Has a text said by a target, and tells the sink of its audio as it comes. */
export function sendSpeech(target: SpeechTarget, spoken: Spoken, sink: CallSink<SpeechKinds>): CallRun {
  const stopped = new AbortController();
  const { signal } = stopped;
  let resumed = Promise.withResolvers<void>();
  resumed.resolve();

  async function say({ requestId, request, traceparent, remainingMs, onAudio }: Spoken): Promise<void> {
    const { upstreamModel } = target;
    const timeoutMs = Math.min(target.timeoutMs, Math.ceil(remainingMs));
    const apiKey = readApiKey(target);
    const call = { taskId: requestId, request, upstreamModel, apiKey, timeoutMs, signal, traceparent };
    const audio = await target.speech.startSpeech(call);
    if (signal.aborted) return;
    onAudio(audio);
    sink.onAccepted();
    let bytes = 0;
    for await (const chunk of audio.chunks) {
      if (signal.aborted) return;
      bytes += chunk.length;
      sink.onPieces([chunk]);
      await resumed.promise;
      if (signal.aborted) return;
    }
    if (bytes === 0) throw new ProviderError("bad-answer", "No audio came.");
    sink.onEnd({ characters: countCharacters(request.text) });
  }

  say(spoken).catch((error: unknown) => {
    if (!signal.aborted) sink.onError(toProviderError(error));
  });
  return {
    pause() {
      resumed.resolve();
      resumed = Promise.withResolvers();
    },
    resume: () => resumed.resolve(),
    cancel() {
      stopped.abort();
      resumed.resolve();
    },
  };
}

function toProviderError(error: unknown): ProviderError {
  return error instanceof ProviderError
    ? error
    : new ProviderError("bad-answer", "The speech failed.", { cause: error });
}
