import type { Passage } from "./gate.ts";

export const vendors = ["openai", "anthropic", "gemini"] as const;
export type Vendor = (typeof vendors)[number];

/** How a fake upstream treats one call. All of it may be combined; nothing of it means a proper answer. */
export type Behaviour = {
  /** An error with this status, in the vendor's form. */
  status?: number;
  /** So many calls with the same prompt get 500 before one is answered. */
  burst?: number;
  /** What the vendor says in it. A code is sent as given, because gateways go by it; the message gets the canary. */
  error?: { code?: string; type?: string; message?: string; param?: string };
  /** How Gemini says, in the body, when to come back: `37s`. */
  retryDelay?: string;
  /** Sent in addition to, or in place of, what the vendor sends. */
  headers?: Record<string, string | string[]>;
  contentType?: string;
  /** Sent as it is in place of any body. */
  body?: string | Buffer;
  /** Adds a header of this size. */
  hugeHeaderBytes?: number;
  /** Answers 307 with this address. */
  redirectTo?: string;

  /** Has to be passed before the head is sent. */
  beforeHead?: Passage;
  /** Has to be passed between the head and the first byte of the body. */
  afterHead?: Passage;
  /** Has to be passed before each piece of a stream. */
  beforePiece?: Passage;
  /** Has to be passed between the last piece and what ends the answer. */
  beforeEnd?: Passage;

  /** What the model says, cut to pieces by us. */
  text?: string;
  /** What the model says, piece by piece. */
  pieces?: readonly string[];
  /** As many tokens as it was allowed: words that everybody sees, or thoughts that nobody does. */
  writesToCap?: "seen" | "hidden";
  thinking?: string;
  /** The tools that the model calls, with its arguments in fragments of JSON. */
  toolCalls?: readonly { id?: string; name: string; fragments: readonly string[] }[];
  /** In the vendor's own words. */
  finishReason?: string;
  /** The vendor refuses what was asked, in the way that its API has for this inside a good answer. */
  isBlocked?: boolean;
  /** What differs from our count; `null` when nothing at all is reported. */
  usage?: Partial<UsageCounts> | null;
  /** Sent as it is where the vendor has its usage. */
  vendorUsage?: unknown;
  /** Where a stream in OpenAI's form has its usage. Many vendors that imitate it do not use a chunk of its own. */
  usageIn?: "own-chunk" | "last-chunk" | "every-chunk";

  /** Adds fields that only this vendor has, to the envelope and inside the choices. */
  hasVendorFields?: boolean;

  /** Whole although a stream was asked for, or the other way round. */
  form?: "whole" | "stream";
  /** The body of the answer, each part in a write and an HTTP chunk of its own, in place of anything else. */
  rawChunks?: readonly (string | Buffer)[];
  /** The whole answer, head and all, written to the socket. */
  rawHttp?: readonly (string | Buffer)[];
  /** Every byte in a write of its own. */
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
  /** An error event in the vendor's form takes the place of whatever comes after this many pieces. */
  errorAfterPieces?: number;
  /** An event that is no JSON takes the place of the first piece; of a whole answer, the end is missing. */
  isMalformed?: boolean;
  /** The last piece is repeated until the other side goes away. */
  isEndless?: boolean;

  /** The connection ends: before anything is said, after the head, or after so many pieces. */
  cut?: "before-head" | "after-head" | { afterPieces: number; where?: "between-chunks" | "inside-chunk" };
  /** The connection is reset, as by a crashed machine, before anything is said. */
  isReset?: boolean;
  /** After the answer the connection is closed, without a word in the head. */
  isClosedAfter?: boolean;
};

/** Tokens as a vendor counts them. Input includes what was cached, output includes thinking. */
export type UsageCounts = {
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  cacheWriteTokens: number;
  /** What of it is kept for an hour. */
  cacheWrite1hTokens: number;
  reasoningTokens: number;
  inputAudioTokens: number;
  outputAudioTokens: number;
};
