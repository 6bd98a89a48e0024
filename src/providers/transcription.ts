import type { Readable } from "node:stream";

/**
 * What every upstream that writes down what is said looks like from above. A provider turns a request into its vendor's
 * form and the vendor's transcript into ours; nothing that it answers is shown to callers but what is in a `Transcript`.
 */
export type TranscriptionProvider = {
  /** What in the request this upstream cannot do, told before anything is sent; `null` when it can do all of it. */
  findObstacle(request: TranscriptionRequest): { param: string; message: string } | null;
  /** Throws a `ProviderError`, or the reason of the signal. */
  transcribe(call: TranscriptionCall): Promise<Transcript>;
  /** Ends idle connections and everything that runs in this process. */
  close(): Promise<void>;
};

/** What is to be written down, checked against the model. `null` is what the caller left to the upstream. */
export type TranscriptionRequest = {
  /** Into the language that is spoken, or into English. */
  task: "transcribe" | "translate";
  language: string | null;
  prompt: string | null;
  temperature: number | null;
  /** Of what the transcript is to tell when it was said. */
  timestamps: readonly TimestampKind[];
  /** Whether it is to tell who said what. */
  isDiarized: boolean;
  hasLogprobs: boolean;
  chunking: "auto" | VoiceDetection | null;
};

export const timestampKinds = ["segment", "word"] as const;
type TimestampKind = (typeof timestampKinds)[number];

/** How the recording is cut where nobody speaks, in OpenAI's words. */
type VoiceDetection = {
  type: "server_vad";
  prefix_padding_ms?: number;
  silence_duration_ms?: number;
  threshold?: number;
};

/** What is listened to. It was read to its end before, and is what it says. */
export type Recording = {
  contentType: string;
  bytes: number;
  durationMs: number;
  /** Reads it from the beginning; may be called again. */
  open(): Promise<Readable>;
};

export type TranscriptionCall = {
  request: TranscriptionRequest;
  recording: Recording;
  /** The vendor's name of the model. */
  upstreamModel: string;
  apiKey: string | null;
  timeoutMs: number;
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** The value of the header `traceparent`, for an upstream that is to be told of the trace. */
  traceparent?: string | null;
  /** The upstream has taken the recording and begun to answer. */
  onAccepted(): void;
  /**
   * Hears of the transcript as it is written; `null` where nobody listens. An upstream that cannot be listened to tells
   * nothing here, and all of it in the end.
   */
  onPieces: ((pieces: readonly TranscriptPiece[]) => void) | null;
};

export type TranscriptPiece =
  | { kind: "text"; text: string; logprobs?: readonly Logprob[]; segmentId?: string }
  | { kind: "segment"; segment: SpeakerSegment };

export type Transcript = {
  text: string;
  /** As the vendor calls it: `english`, or `en`. */
  language: string | null;
  segments: readonly TranscriptSegment[];
  words: readonly TranscriptWord[];
  speakers: readonly SpeakerSegment[];
  logprobs: readonly Logprob[] | null;
  /** Tokens as the vendor counted them. */
  usage: TranscriptUsage | null;
};

/** In OpenAI's words; times are seconds. */
export type TranscriptSegment = {
  id: number;
  seek: number;
  start: number;
  end: number;
  text: string;
  tokens: readonly number[];
  temperature: number;
  avg_logprob: number;
  compression_ratio: number;
  no_speech_prob: number;
};
export type TranscriptWord = { word: string; start: number; end: number };
export type SpeakerSegment = { id: string; start: number; end: number; speaker: string; text: string };
export type Logprob = { token: string; logprob: number; bytes: readonly number[] };

export type TranscriptUsage = {
  inputTokens: number;
  /** Of the input, what is audio. */
  audioTokens: number;
  outputTokens: number;
};
