import { ProviderError } from "../../providers/contract.ts";
import { readApiKey } from "../../providers/provider-setup.ts";
import type { Recording, Transcript, TranscriptionRequest, TranscriptPiece } from "../../providers/transcription.ts";
import type { CallAttempt, CallRun, CallSink } from "../calls/index.ts";
import type { TranscriptionKinds, TranscriptionTarget } from "./transcription-kinds.ts";

type SentTranscription = CallAttempt & { request: TranscriptionRequest; recording: Recording; isStreamed: boolean };

/** Has a recording written down by a target, and tells the sink of the transcript: as it comes, or when it is whole. */
export function sendTranscription(
  target: TranscriptionTarget,
  { request, recording, isStreamed, traceparent, remainingMs }: SentTranscription,
  sink: CallSink<TranscriptionKinds>,
): CallRun {
  const stopped = new AbortController();
  const { signal } = stopped;
  let hasTold = false;
  const tell = (pieces: readonly TranscriptPiece[]): void => {
    if (signal.aborted || pieces.length === 0) return;
    hasTold = true;
    sink.onPieces(pieces);
  };

  async function run(): Promise<void> {
    const { upstreamModel } = target;
    const timeoutMs = Math.min(target.timeoutMs, Math.ceil(remainingMs));
    const apiKey = readApiKey(target);
    const transcript = await target.transcription.transcribe({
      ...{ request, recording, upstreamModel, apiKey, timeoutMs, signal, traceparent },
      onAccepted: () => {
        if (!signal.aborted) sink.onAccepted();
      },
      onPieces: isStreamed ? tell : null,
    });
    if (signal.aborted) return;
    if (!isStreamed) {
      sink.onAnswer(transcript);
      return;
    }
    if (!hasTold) tell(listPieces(transcript));
    if (!signal.aborted) sink.onEnd(transcript.usage);
  }

  run().catch((error: unknown) => {
    if (!signal.aborted) sink.onError(toProviderError(error));
  });
  // A transcript is little text, and is not worth holding its upstream back for.
  return { pause() {}, resume() {}, cancel: () => stopped.abort(new Error("The call is over.")) };
}

/** All of a transcript whose upstream could not be listened to. */
function listPieces({ text, logprobs, speakers }: Transcript): TranscriptPiece[] {
  const whole: TranscriptPiece[] =
    text === "" ? [] : [{ kind: "text", text, ...(logprobs === null ? {} : { logprobs }) }];
  return [...whole, ...speakers.map((segment) => ({ kind: "segment" as const, segment }))];
}

function toProviderError(error: unknown): ProviderError {
  return error instanceof ProviderError
    ? error
    : new ProviderError("bad-answer", "The transcription failed.", { cause: error });
}
