import type { Readable } from "node:stream";
import type { UpstreamTerms } from "./contract.ts";

/**
 * The interface of every transcription upstream. A provider converts a request to its vendor's format and the
 * transcript to ours; callers see only what is in a `Transcript`.
 */
export type TranscriptionProvider = {
  /** What this upstream does not support in the request, before anything is sent; `null` if nothing. */
  findObstacle(request: TranscriptionRequest): { param: string; message: string } | null;
  /** Throws a `ProviderError`, or the signal's reason. */
  transcribe(call: TranscriptionCall): Promise<Transcript>;
  /** Closes idle connections and stops everything in this process. */
  close(): Promise<void>;
};

/** The request, validated against the model. `null` leaves the choice to the upstream. */
export type TranscriptionRequest = {
  /** Into the spoken language, or into English. */
  task: "transcribe" | "translate";
  language: string | null;
  prompt: string | null;
  temperature: number | null;
  /** What the transcript has timestamps for. */
  timestamps: readonly TimestampKind[];
  /** Whether to identify speakers. */
  isDiarized: boolean;
  hasLogprobs: boolean;
  chunking: "auto" | VoiceDetection | null;
};

export const timestampKinds = ["segment", "word"] as const;
type TimestampKind = (typeof timestampKinds)[number];

/** How to split the recording at silence, in OpenAI's terms. */
type VoiceDetection = {
  type: "server_vad";
  prefix_padding_ms?: number;
  silence_duration_ms?: number;
  threshold?: number;
};

/** The recording. It was read completely before, and its type is verified. */
export type Recording = {
  contentType: string;
  bytes: number;
  durationMs: number;
  /** Reads it from the start; may be called again. */
  open(): Promise<Readable>;
};

export type TranscriptionCall = UpstreamTerms & {
  request: TranscriptionRequest;
  recording: Recording;
  /** The upstream has accepted the recording and started to respond. */
  onAccepted(): void;
  /**
   * Receives the transcript as it is written; `null` if the caller did not ask for a stream. An upstream without
   * streaming sends nothing here, and returns the whole at the end.
   */
  onPieces: ((pieces: readonly TranscriptPiece[]) => void) | null;
};

export type TranscriptPiece =
  | { kind: "text"; text: string; logprobs?: readonly Logprob[]; segmentId?: string }
  | { kind: "segment"; segment: SpeakerSegment };

export type Transcript = {
  text: string;
  /** The vendor's name: `english`, or `en`. */
  language: string | null;
  segments: readonly TranscriptSegment[];
  words: readonly TranscriptWord[];
  speakers: readonly SpeakerSegment[];
  logprobs: readonly Logprob[] | null;
  /** Tokens as the vendor counted them. */
  usage: TranscriptUsage | null;
};

/** OpenAI's fields; times are in seconds. */
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
  /** The audio share of the input. */
  audioTokens: number;
  outputTokens: number;
};
