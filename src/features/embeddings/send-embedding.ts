import { ProviderError } from "../../providers/contract.ts";
import type { EmbeddingRequest } from "../../providers/embedding.ts";
import { readApiKey } from "../../providers/provider-setup.ts";
import type { CallAttempt, CallRun, CallSink } from "../calls/index.ts";
import type { EmbeddingKinds, EmbeddingTarget } from "./embedding-kinds.ts";

type Sent = CallAttempt & { request: EmbeddingRequest; dimensionsMax: number };

/** Has a target embed, and tells the sink of all the vectors at once. */
export function sendEmbedding(
  target: EmbeddingTarget,
  { remainingMs, ...sent }: Sent,
  sink: CallSink<EmbeddingKinds>,
): CallRun {
  const stopped = new AbortController();
  const { signal } = stopped;
  const { upstreamModel } = target;
  const timeoutMs = Math.min(target.timeoutMs, Math.ceil(remainingMs));
  const apiKey = readApiKey(target);
  target.embedding.embed({ ...sent, upstreamModel, apiKey, timeoutMs, signal }).then(
    (answer) => {
      if (signal.aborted) return;
      sink.onAccepted();
      sink.onAnswer(answer);
    },
    (error: unknown) => {
      if (!signal.aborted) sink.onError(toProviderError(error));
    },
  );
  return { pause: () => {}, resume: () => {}, cancel: () => stopped.abort() };
}

function toProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  return new ProviderError("bad-answer", "The embedding failed.", { cause: error });
}
