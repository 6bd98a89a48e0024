import type { ChatObstacle, UpstreamTerms } from "./contract.ts";

/**
 * The interface of every embedding upstream: texts, or the model's own tokens, become vectors. It knows nothing of
 * accounts, prices or routes, and returns only vectors and a token count.
 */
export type EmbeddingProvider = {
  /** What this upstream does not support in the request, before anything is sent; `null` if nothing. */
  findObstacle(request: EmbeddingRequest): ChatObstacle | null;
  /** Throws a `ProviderError` on failure, or the signal's reason. */
  embed(call: EmbeddingCall): Promise<EmbeddingAnswer>;
  close(): Promise<void>;
};

/** The input. Token numbers are specific to the model's tokenizer. */
export type EmbeddingInput =
  | { kind: "texts"; texts: readonly string[] }
  | { kind: "tokens"; lists: readonly (readonly number[])[] };

export const embeddingEncodings = ["float", "base64"] as const;
/** Numbers as JSON, or little-endian 32-bit floats as base64. */
export type EmbeddingEncoding = (typeof embeddingEncodings)[number];

export type EmbeddingRequest = {
  input: EmbeddingInput;
  /** The length of each vector; `null` for the model's default. */
  dimensions: number | null;
  encoding: EmbeddingEncoding;
  /** The caller's end user, as given by the caller. */
  user: string | null;
};

export type EmbeddingCall = UpstreamTerms & {
  request: EmbeddingRequest;
  /** The longest vector that the model makes. */
  dimensionsMax: number;
};

export type EmbeddingAnswer = {
  /** One for each input, in order, as JSON in the requested encoding. */
  vectors: readonly string[];
  /** The upstream's count; `null` if it reports none. */
  inputTokens: number | null;
};

export function countInputs(input: EmbeddingInput): number {
  return input.kind === "texts" ? input.texts.length : input.lists.length;
}
