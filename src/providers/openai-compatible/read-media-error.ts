import type { Clock } from "../../lib/clock.ts";
import { ProviderError } from "../contract.ts";
import { readVendorRefusal } from "../failures/read-vendor-refusal.ts";
import type { SubmitOutcome } from "../generation.ts";
import type { WholeAnswer } from "../media-client.ts";

/** The callers' names of the fields of images, speech, embeddings and transcriptions. */
const paramsByField: Readonly<Record<string, string>> = {
  prompt: "prompt",
  size: "size",
  n: "n",
  image: "input_images",
  input: "input",
  voice: "voice",
  response_format: "response_format",
  speed: "speed",
  instructions: "instructions",
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

/** Throws the error, unless it says that the upstream still works on the first of two identical requests. */
export function throwUnlessInProgress(
  error: ProviderError,
  { headers }: { headers: Readonly<Record<string, string>> },
): Extract<SubmitOutcome, { kind: "ambiguous" }> {
  if (error.detail?.status === 409 && Object.keys(headers).length > 0) return { kind: "ambiguous", error };
  throw error;
}

/**
 * Classifies an error of an image, speech, embedding or transcription request. Such a request refers to nothing in the
 * vendor's account, so a 404 is never the customer's fault.
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
