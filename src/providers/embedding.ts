import type { ChatObstacle } from "./contract.ts";

/**
 * What every upstream that embeds looks like from above: texts, or tokens of the model's own, become vectors. It knows
 * nothing of accounts, prices or routes, and hands on nothing but vectors and a count of tokens.
 */
export type EmbeddingProvider = {
  /** What in the request this upstream cannot do, told before anything is sent; `null` when it can do all of it. */
  findObstacle(request: EmbeddingRequest): ChatObstacle | null;
  /** Throws a `ProviderError` where it fails, or the reason of the signal. */
  embed(call: EmbeddingCall): Promise<EmbeddingAnswer>;
  close(): Promise<void>;
};

/** What is to be embedded. Tokens are numbers that only the model's own tokenizer knows. */
export type EmbeddingInput =
  | { kind: "texts"; texts: readonly string[] }
  | { kind: "tokens"; lists: readonly (readonly number[])[] };

export const embeddingEncodings = ["float", "base64"] as const;
/** Numbers as JSON, or 32-bit numbers in little-endian order as base64. */
export type EmbeddingEncoding = (typeof embeddingEncodings)[number];

export type EmbeddingRequest = {
  input: EmbeddingInput;
  /** How long each vector is to be; `null` for as long as the model makes them. */
  dimensions: number | null;
  encoding: EmbeddingEncoding;
  /** Whom the caller asks for, in the caller's words. */
  user: string | null;
};

export type EmbeddingCall = {
  request: EmbeddingRequest;
  /** The vendor's name of the model. */
  upstreamModel: string;
  apiKey: string | null;
  /** Longer vectors than this the model does not make. */
  dimensionsMax: number;
  timeoutMs: number;
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** The value of the header `traceparent`, for an upstream that is to be told of the trace. */
  traceparent?: string | null;
};

export type EmbeddingAnswer = {
  /** One for each input, in the order of the inputs, as JSON in the encoding that was asked for. */
  vectors: readonly string[];
  /** As the upstream counted; `null` where it does not tell. */
  inputTokens: number | null;
};

export function countInputs(input: EmbeddingInput): number {
  return input.kind === "texts" ? input.texts.length : input.lists.length;
}
