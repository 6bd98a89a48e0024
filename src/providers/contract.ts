import type { CacheMarking } from "./cache-marks.ts";
import type { ChatRequest } from "./chat-request.ts";

/**
 * What every upstream looks like from above. A provider turns a request into its vendor's form and the vendor's answer
 * into ours. It knows nothing of accounts, prices or routes, and never hands on anything that could name the vendor:
 * only choices and usage, in OpenAI's form; ids, model names and the rest of the envelope are written by the caller.
 */
export type ChatProvider = {
  /** What in the request this upstream cannot do, told before anything is sent; `null` when it can do all of it. */
  findObstacle(request: ChatRequest): ChatObstacle | null;
  /** Sends the request and tells the sink what comes of it. Never throws; the sink hears of every failure, once. */
  startChat(call: ChatCall, sink: ChatSink): ChatRun;
  /** Whether a streamed answer ends with what the vendor counted. */
  readonly reportsStreamUsage: boolean;
  /** The wires beside chat that the vendor speaks itself: a request of one goes to it as the caller wrote it. */
  readonly nativeWires?: ReadonlySet<NativeWire>;
  /** Ends idle connections. Calls that still run are cancelled. */
  close(): Promise<void>;
};

/** A form of the API that some vendors speak themselves. Whatever comes by one can also be said in the form of chat. */
export const nativeWires = ["messages", "responses"] as const;
export type NativeWire = (typeof nativeWires)[number];

/**
 * A request as its caller wrote it, for upstreams that speak the same wire: it goes through unchanged but for the model,
 * the limits and who asks. Beside it stands the same request in the form of chat, for all others.
 */
export type NativeRequest = {
  wire: NativeWire;
  body: Readonly<Record<string, unknown>>;
  /** Headers of the caller's that the vendor is to see. */
  headers: Readonly<Record<string, string>>;
  /** Something in it that the form of chat cannot say; then only an upstream of the same wire can take it. */
  obstacle: ChatObstacle | null;
  /** What the answer says of itself in place of the vendor's words. */
  envelope: { id: string; model: string };
};

/** The field that asks for what cannot be done, as in `messages[0].content[1]`, and a sentence for the caller. */
export type ChatObstacle = { param: string; message: string };

export type ChatCall = {
  request: ChatRequest;
  /** The same request as its caller wrote it, where the upstream speaks its wire. */
  native?: NativeRequest;
  /** The vendor's name of the model. */
  upstreamModel: string;
  /** Fields beyond OpenAI's contract, of the request or of its messages, that the route names as known to this upstream. */
  passthrough?: readonly string[];
  /** How its marks of where the prompt may be cached are sent; without it as they are, and for minutes. */
  cacheMarking?: CacheMarking;
  apiKey: string | null;
  /** The most tokens that each choice of the answer may have; the vendor is told, whatever the caller asked for. */
  outputTokensMax: number;
  timeouts: ChatTimeouts;
  /** The value of the header `traceparent`, for an upstream that is to be told of the trace. */
  traceparent?: string | null;
};

export type ChatTimeouts = {
  connectMs: number;
  /** From sending the request to the first data of the answer. */
  firstByteMs: number;
  /** Between two pieces of data. */
  idleMs: number;
  totalMs: number;
};

/** A call that is under way. Each function may be called at any time, also when the call is long over. */
export type ChatRun = {
  /** Stops reading from the upstream until `resume`: a little that is under way already may still arrive. */
  pause(): void;
  resume(): void;
  /** Ends the call at once and closes its connection. The sink hears nothing more. */
  cancel(): void;
};

/**
 * Hears what comes of a call, in this order: at most one `onAccepted`; then, for a streamed call, any number of
 * `onPieces` and one `onEnd`, and for a whole one a single `onAnswer`. `onError` may take the place of whatever is still
 * to come; it and `onEnd` and `onAnswer` are the last.
 */
export type ChatSink = {
  /** The upstream has taken the request and begun to answer. */
  onAccepted(): void;
  /** One or more pieces that arrived together. */
  onPieces(pieces: readonly ChatPiece[]): void;
  /** A streamed answer is over: its last finish reason has come. `usage` is what the upstream reported in all. */
  onEnd(usage: ChatUsage | null): void;
  onAnswer(answer: ChatAnswer): void;
  onError(error: ProviderError): void;
};

/** A part of a streamed answer: what OpenAI's API calls a chunk, without its envelope. */
export type ChatPiece = {
  /** The JSON text of the chunk's `choices`: `[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]`. */
  choices: string;
  /**
   * What the model wrote in this piece, of whatever kind (text, reasoning, refusal, names and arguments of tool calls),
   * for counting. Escapes of JSON may still be in it.
   */
  text: string;
  /** Usage that the upstream reports before the end, so that a call that breaks off can be charged exactly. */
  usage?: ChatUsage;
  /** It has content that is not in `text`: an image, or an item or block of any other type. */
  isContent?: true;
  /** No choice ends in this piece. Whoever knows that says so, and nobody has to look for it. */
  isGoingOn?: true;
  /** It is nothing but this field of the first choice, and `text` is its value as it stands in JSON: nobody has to parse it. */
  soleField?: "content" | "reasoning_content";
  /**
   * The answer to a native request: an event of its wire, clean and ready to be sent; `choices` is then for the meter
   * alone. Where the wire has an event that says nothing but that all is over (`message_stop`), it is left to whoever
   * knows that the answer is paid for.
   */
  nativeEvents?: string;
};

/** A whole answer. */
export type ChatAnswer = {
  /** The JSON text of `choices`: `[{"index":0,"message":{…},"finish_reason":"stop","logprobs":null}]`. */
  choices: string;
  /** What the model wrote, as in a piece. */
  text: string;
  /** It has content that is not in `text`, as in a piece. */
  isContent?: true;
  usage: ChatUsage | null;
  /** The answer to a native request, clean, without its usage: that is the caller's to tell. */
  nativeBody?: Record<string, unknown>;
};

/** Tokens as the upstream counted them. Input includes what a cache read or wrote; output includes reasoning. */
export type ChatUsage = {
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  /** Written to a cache, for however long it keeps them. */
  cacheWriteTokens: number;
  /** What of it is kept for an hour; the rest for minutes. */
  cacheWrite1hTokens: number;
  reasoningTokens: number;
  inputAudioTokens: number;
  outputAudioTokens: number;
};

/** Stands for usage that was reported in numbers no count can be. */
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

/** What follows from each is in `failures/failure-table.ts`. */
export type ProviderErrorKind =
  /** The request itself is at fault; another upstream would say the same. */
  | "rejected"
  /** The request was refused for its content. */
  | "content-refused"
  /** The request is longer than the model can read. */
  | "too-long"
  /** Our key there is unknown, revoked or missing. */
  | "key-refused"
  /** Our account there has no money left, or has reached its billing limit. */
  | "out-of-credit"
  /** Our quota there of a day or a month is used up. */
  | "quota-exceeded"
  | "rate-limited"
  /** The upstream does not have the model, or not for us. */
  | "model-unavailable"
  /** The catalog's entry cannot work: a wrong address, a missing package, a region that the vendor does not serve. */
  | "misconfigured"
  /** The upstream itself failed. */
  | "overloaded"
  | "timeout"
  /** The upstream could not be reached, or the connection broke. */
  | "unreachable"
  /** What came is not what the vendor's API promises. */
  | "bad-answer"
  /** A refusal that names no cause: a page of a proxy, a status without words, words that no rule knows. */
  | "unexplained";

type ProviderErrorOptions = {
  /** The field at fault, where the upstream names one that the contract knows. */
  param?: string | null;
  /** How long the upstream asks to be left alone. */
  retryAfterMs?: number | null;
  /** It concerns this call alone, and says nothing of how the next one would fare. */
  isIsolated?: boolean;
  /** For the operator's log: may quote the upstream, so it goes nowhere else. */
  detail?: Record<string, unknown>;
  cause?: unknown;
};

/** An upstream failed. Its text is for operators; what callers are told is decided above. */
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
