import type { Clock } from "../../lib/clock.ts";
import { ProviderError } from "../contract.ts";
import type { SubmitOutcome } from "../generation.ts";
import type { WholeAnswer } from "../media-client.ts";
import { asRecord } from "./json-value.ts";
import { readUpstreamError } from "./read-upstream-error.ts";

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

/** What an upstream's refusal of images or speech means for us: as with chat, but for the names of the fields. */
export function readMediaError(answer: WholeAnswer, { clock }: { clock: Clock }): ProviderError {
  const error = readUpstreamError({ ...answer, clock });
  if (error.kind !== "rejected") return error;
  const param = asRecord(asRecord(answer.body)?.error)?.param;
  const field = typeof param === "string" ? (param.split(/[.[]/, 1)[0] ?? "") : "";
  const { message, detail = {} } = error;
  return new ProviderError("rejected", message, { param: paramsByField[field] ?? null, detail });
}
