import type { Clock } from "../../lib/clock.ts";
import { ProviderError } from "../contract.ts";
import { readVendorRefusal } from "../failures/read-vendor-refusal.ts";
import type { SubmitOutcome } from "../generation.ts";
import type { WholeAnswer } from "../media-client.ts";

/** What callers of ours name the fields of images, speech, embeddings and transcriptions. */
const paramsByField: Readonly<Record<string, string>> = {
  prompt: "prompt",
  size: "size",
  n: "n",
  image: "input_images",
  input: "input",
  voice: "voice",
  response_format: "response_format",
  speed: "speed",
  dimensions: "dimensions",
  encoding_format: "encoding_format",
  file: "file",
  language: "language",
  temperature: "temperature",
  timestamp_granularities: "timestamp_granularities",
  include: "include",
  stream: "stream",
  chunking_strategy: "chunking_strategy",
};

/**
 * Throws the refusal of a request, but where it is one that was sent again: that the upstream still works on the first one
 * is no end of it.
 */
export function refuseOrWait(
  error: ProviderError,
  { headers }: { headers: Readonly<Record<string, string>> },
): Extract<SubmitOutcome, { kind: "ambiguous" }> {
  if (error.detail?.status === 409 && Object.keys(headers).length > 0) return { kind: "ambiguous", error };
  throw error;
}

/**
 * What an upstream's refusal of images, speech, embeddings or transcriptions means for us. Such a request names nothing that
 * a vendor keeps, so what is not found is never the customer's fault.
 */
export function readMediaError(answer: WholeAnswer, { clock }: { clock: Clock }): ProviderError {
  const error = readVendorRefusal(answer, { now: clock.now(), findParam: ({ param }) => findMediaParam(param) });
  return answer.status === 404 && error.kind === "rejected" ? blameUpstream(error) : error;
}

function blameUpstream({ message, detail = {} }: ProviderError): ProviderError {
  return new ProviderError("unexplained", message, { detail });
}

function findMediaParam(param: unknown): string | null {
  const field = typeof param === "string" ? (param.split(/[.[]/, 1)[0] ?? "") : "";
  return paramsByField[field] ?? null;
}
