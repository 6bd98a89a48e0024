import type { Passage } from "./gate.ts";

export const vendors = ["openai", "anthropic", "gemini"] as const;
export type Vendor = (typeof vendors)[number];

/** How a fake upstream treats one call. All fields can be combined; without any, it answers correctly. */
export type Behaviour = {
  /** An error with this status, in the vendor's format. */
  status?: number;
  /** This many calls with the same prompt get 500 before one is answered. */
  burst?: number;
  /** The vendor's error. A code is sent as given, because gateways use it; the message gets the canary. */
  error?: { code?: string; type?: string; message?: string; param?: string };
  /** Gemini's retry delay in the body: `37s`. */
  retryDelay?: string;
  /** Sent in addition to, or instead of, the vendor's headers. */
  headers?: Record<string, string | string[]>;
  contentType?: string;
  /** Sent unchanged instead of any body. */
  body?: string | Buffer;
  /** Adds a header of this size. */
  hugeHeaderBytes?: number;
  /** Answers 307 with this address. */
  redirectTo?: string;

  /** Passed before the head is sent. */
  beforeHead?: Passage;
  /** Passed between the head and the first byte of the body. */
  afterHead?: Passage;
  /** Passed before each piece of a stream. */
  beforePiece?: Passage;
  /** Passed between the last piece and the end of the answer. */
  beforeEnd?: Passage;

  /** The model's text, split into pieces by the fake. */
  text?: string;
  /** The model's text, piece by piece. */
  pieces?: readonly string[];
  /** As many tokens as allowed: visible text, or hidden reasoning. */
  writesToCap?: "seen" | "hidden";
  thinking?: string;
  /** The tools that the model calls, with its arguments in fragments of JSON. */
  toolCalls?: readonly { id?: string; name: string; fragments: readonly string[] }[];
  /** The vendor's own value. */
  finishReason?: string;
  /** The vendor refuses the prompt, in its own way inside a successful answer. */
  isBlocked?: boolean;
  /** Differences from the fake's count; `null` when nothing is reported. */
  usage?: Partial<UsageCounts> | null;
  /** Sent unchanged as the vendor's usage. */
  vendorUsage?: unknown;
  /** Where an OpenAI stream has its usage. Many compatible vendors do not use a separate chunk. */
  usageIn?: "own-chunk" | "last-chunk" | "every-chunk";

  /** Adds fields that only this vendor has, to the envelope and inside the choices. */
  hasVendorFields?: boolean;

  /** Whole although a stream was requested, or the other way round. */
  form?: "whole" | "stream";
  /** The body of the answer, each part in its own write and HTTP chunk, instead of anything else. */
  rawChunks?: readonly (string | Buffer)[];
  /** The whole answer with its head, written to the socket. */
  rawHttp?: readonly (string | Buffer)[];
  /** Every byte in its own write. */
  isSplitAtEveryByte?: boolean;
  lineEnding?: "\n" | "\r\n" | "\r";
  /** A comment before each event. */
  hasComments?: boolean;
  /** `data:{…}`, without the space. */
  hasNoSpace?: boolean;
  /** The stream ends without `[DONE]` or `message_stop`. */
  hasNoDone?: boolean;
  /** No finish reason comes, though the stream ends properly. */
  hasNoFinish?: boolean;
  /** An error event in the vendor's format replaces everything after this many pieces. */
  errorAfterPieces?: number;
  /** An event with invalid JSON replaces the first piece; a whole answer is cut before its end. */
  isMalformed?: boolean;
  /** The last piece is repeated until the client disconnects. */
  isEndless?: boolean;

  /** The connection ends: before the head, after it, or after this many pieces. */
  cut?: "before-head" | "after-head" | { afterPieces: number; where?: "between-chunks" | "inside-chunk" };
  /** The connection is reset before the head, as by a crashed machine. */
  isReset?: boolean;
  /** The connection is closed after the answer, without `connection: close`. */
  isClosedAfter?: boolean;
};

/** Tokens as a vendor counts them. Input includes cached tokens, output includes thinking. */
export type UsageCounts = {
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  cacheWriteTokens: number;
  /** The part of it that is cached for an hour. */
  cacheWrite1hTokens: number;
  reasoningTokens: number;
  inputAudioTokens: number;
  outputAudioTokens: number;
};
