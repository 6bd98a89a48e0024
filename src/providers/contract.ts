import type { UpstreamHeaders } from "../platform/net/upstream-call.ts";
import type { CacheControlPolicy } from "./cache-control.ts";
import type { ChatRequest } from "./chat-request.ts";

/**
 * The interface of every chat upstream. A provider converts a request to its vendor's format and the response to ours.
 * It knows nothing of accounts, prices or routes, and returns nothing that could identify the vendor: only choices and
 * usage, in OpenAI's format. The caller writes ids, model names and the rest of the envelope.
 */
export type ChatProvider = {
  /**
   * What this upstream does not support in the request, before anything is sent; `null` if nothing. Fields in the
   * route's `passthrough` are not checked.
   */
  findObstacle(request: ChatRequest, passthrough?: readonly string[]): ChatObstacle | null;
  /** Sends the request and reports to the sink. Never throws; the sink gets every failure, once. */
  startChat(call: ChatCall, sink: ChatSink): ChatRun;
  /** Fields outside OpenAI's API that every route to this upstream supports; a route's `passthrough` may name more. */
  readonly vendorFields?: ReadonlySet<string>;
  /** The input tokens that a call with this request would report, if that is known without a call. */
  countInput?(request: ChatRequest): number;
  /** Whether a stream ends with the vendor's usage. */
  readonly reportsStreamUsage: boolean;
  /** Whether the messages and tools of a usual chat request are sent as the caller wrote them. */
  readonly copiesChat?: boolean;
  /** Other APIs that the vendor supports: a request of one is forwarded as the caller wrote it. */
  readonly nativeWires?: ReadonlySet<NativeWire>;
  /** Closes idle connections and cancels running calls. */
  close(): Promise<void>;
};

/** APIs besides chat that some vendors support. A request can also be translated to chat, unless it has an obstacle. */
export const nativeWires = ["messages", "responses", "completions"] as const;
export type NativeWire = (typeof nativeWires)[number];

/**
 * A request as the caller wrote it, for upstreams with the same API. Only the model, the limits and the credentials are
 * replaced. The same request in the chat format is for all others.
 */
export type NativeRequest = {
  wire: NativeWire;
  body: Readonly<Record<string, unknown>>;
  /** The caller's headers to forward to the vendor. */
  headers: Readonly<Record<string, string>>;
  /** Something in it that chat cannot express: then only an upstream with the same API can serve it. */
  obstacle: ChatObstacle | null;
  /** Replaces the vendor's own id and model in the response. */
  envelope: { id: string; model: string };
};

/** The unsupported field, such as `messages[0].content[1]`, and a message for the caller. */
export type ChatObstacle = { param: string; message: string };

export type ChatCall = {
  request: ChatRequest;
  /** The same request as the caller wrote it, if the upstream has that API. */
  native?: NativeRequest;
  /** The vendor's name of the model. */
  upstreamModel: string;
  /** Fields outside OpenAI's API, of the request or its messages, that the route names as supported. */
  passthrough?: readonly string[];
  /** How to pass cache marks on (`cache-control.ts`); without it: as the caller set them, without `ttl: 1h`. */
  cacheControl?: CacheControlPolicy;
  apiKey: string | null;
  /** The cap for each choice. Sent to the vendor instead of the caller's. */
  outputTokensMax: number;
  timeouts: ChatTimeouts;
  /** The `traceparent` header, for an upstream with `trace_context`. */
  traceparent?: string | null;
};

/** What every call but chat needs beside the request itself. */
export type UpstreamTerms = {
  /** The vendor's name of the model. */
  upstreamModel: string;
  apiKey: string | null;
  timeoutMs: number;
  /** Aborted when the caller no longer waits. */
  signal: AbortSignal;
  /** The `traceparent` header, for an upstream with `trace_context`. */
  traceparent?: string | null;
  /** Called with the headers of each response. */
  onHead?(headers: UpstreamHeaders): void;
};

export type ChatTimeouts = {
  connectMs: number;
  /** From sending the request to the first bytes of the response. */
  firstByteMs: number;
  /** Between two reads. */
  idleMs: number;
  totalMs: number;
};

/** A running call. Each function may be called at any time, even after the end. */
export type ChatRun = {
  /** Stops reading from the upstream until `resume`. Data already received may still arrive. */
  pause(): void;
  resume(): void;
  /** Ends the call and closes its connection. The sink gets nothing more. */
  cancel(): void;
};

/**
 * Receives the events of a call, in this order: at most one `onAccepted`; then any number of `onPieces` and one `onEnd`
 * for a stream, or one `onAnswer`. `onError` may replace whatever is still to come. `onEnd`, `onAnswer` and `onError`
 * are final.
 */
export type ChatSink = {
  /** The headers of a response, whatever its status; before anything else, and once for each request that is sent. */
  onHead?(headers: UpstreamHeaders): void;
  /** The upstream has accepted the request and started to respond. */
  onAccepted(): void;
  /** One or more pieces that arrived together. */
  onPieces(pieces: readonly ChatPiece[]): void;
  /** A stream has ended: its last finish reason has arrived. `usage` is the upstream's report. */
  onEnd(usage: ChatUsage | null): void;
  onAnswer(answer: ChatAnswer): void;
  onError(error: ProviderError): void;
};

/** A part of a streamed answer: OpenAI's chunk without its envelope. */
export type ChatPiece = {
  /** The chunk's `choices` as JSON: `[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]`. */
  choices: string;
  /**
   * Everything the model wrote in this piece (text, reasoning, refusal, names and arguments of tool calls), for
   * counting. May contain JSON escapes.
   */
  text: string;
  /** Usage reported before the end, so that an interrupted call is charged exactly. */
  usage?: ChatUsage;
  /** It has content that is not in `text`: an image, or an item or block of another type. */
  isContent?: true;
  /** The caller's stop sequence that ended the first choice, if the upstream reports it. */
  stopSequence?: string;
  /** No choice ends in this piece. Set if known, to save the meter a search. */
  isUnfinished?: true;
  /** The piece contains only this field of the first choice, and `text` is its JSON-escaped value: no parsing needed. */
  soleField?: "content" | "reasoning_content";
  /**
   * For a native request: an event of its API, clean and ready to send; `choices` is then only for the meter. A final
   * event without content (`message_stop`) is left to the presenter, which sends it after the settlement.
   */
  nativeEvents?: string;
};

/** A complete answer. */
export type ChatAnswer = {
  /** `choices` as JSON: `[{"index":0,"message":{…},"finish_reason":"stop","logprobs":null}]`. */
  choices: string;
  /** What the model wrote, as in a piece. */
  text: string;
  /** It has content that is not in `text`, as in a piece. */
  isContent?: true;
  /** As in a piece. */
  stopSequence?: string;
  usage: ChatUsage | null;
  /** For a native request: the clean response, without usage, which the presenter adds. */
  nativeBody?: Record<string, unknown>;
};

/** Tokens as the upstream counted them. Input includes cache reads and writes; output includes reasoning. */
export type ChatUsage = {
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  /** Written to a cache, with any lifetime. */
  cacheWriteTokens: number;
  /** Of these, with a lifetime of one hour. */
  cacheWrite1hTokens: number;
  reasoningTokens: number;
  inputAudioTokens: number;
  outputAudioTokens: number;
  /** What the vendor charged us for the call, in nanodollars; absent if it does not say. */
  costNano?: number;
};

/** Reported usage whose numbers cannot be a count. */
export const uncountableUsage: ChatUsage = {
  inputTokens: Number.NaN,
  outputTokens: Number.NaN,
  cachedInputTokens: Number.NaN,
  cacheWriteTokens: Number.NaN,
  cacheWrite1hTokens: Number.NaN,
  reasoningTokens: Number.NaN,
  inputAudioTokens: Number.NaN,
  outputAudioTokens: Number.NaN,
};

/** `failures/failure-table.ts` has the consequences of each. */
export type ProviderErrorKind =
  /** The request is invalid; another upstream would reject it too. */
  | "rejected"
  /** The vendor's content policy rejected the request. */
  | "content-refused"
  /** The request is longer than the model's context. */
  | "too-long"
  /** Our key is unknown, revoked or missing. */
  | "key-refused"
  /** Our account has no credit left, or has reached its billing limit. */
  | "out-of-credit"
  /** Our daily or monthly quota is used up. */
  | "quota-exceeded"
  | "rate-limited"
  /** The upstream does not have the model, or not for our account. */
  | "model-unavailable"
  /** The catalog entry cannot work: a wrong address, a missing package, a region that the vendor does not serve. */
  | "misconfigured"
  /** The upstream itself failed. */
  | "overloaded"
  | "timeout"
  /** The upstream could not be reached, or the connection broke. */
  | "unreachable"
  /** The response does not follow the vendor's API. */
  | "bad-answer"
  /** A rejection without a cause: a proxy's page, a status without a body, an unknown message. */
  | "unexplained";

type ProviderErrorOptions = {
  /** The field at fault, if the upstream names one that callers know. */
  param?: string | null;
  /** How long the upstream asks us to wait. */
  retryAfterMs?: number | null;
  /** Concerns only this call, and says nothing about the next one. */
  isIsolated?: boolean;
  /** For the operator's log only: may quote the upstream. */
  detail?: Record<string, unknown>;
  cause?: unknown;
};

/** An upstream failed. The message is for operators; the features decide what callers get. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly kind: ProviderErrorKind;
  readonly param: string | null;
  readonly retryAfterMs: number | null;
  readonly isIsolated: boolean;
  readonly detail: Record<string, unknown> | undefined;

  constructor(kind: ProviderErrorKind, message: string, options: ProviderErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.param = options.param ?? null;
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.isIsolated = options.isIsolated ?? false;
    this.detail = options.detail;
  }
}
