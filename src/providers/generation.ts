import type { Readable } from "node:stream";
import type { ProviderError } from "./contract.ts";

/**
 * What every upstream that makes media looks like from above. A provider turns a request into its vendor's form and the
 * vendor's words into ours; it knows nothing of accounts, prices, tasks or routes. Nothing that it answers is shown to
 * callers but what it made.
 */
export type GenerationProvider = {
  readonly traits: GenerationTraits;
  /** What in the request this upstream cannot do, told before anything is sent; `null` when it can do all of it. */
  findObstacle(request: GenerationRequest): { param: string; message: string } | null;
  /**
   * Hands the work over. Throws a `ProviderError` only where it is certain that nothing was begun; where that is not
   * certain (the connection broke after the request was sent), it answers `ambiguous`.
   */
  submit(call: GenerationCall): Promise<SubmitOutcome>;
  /** How the work stands. Safe to repeat at any time, also after it ended. Throws when the upstream cannot be asked. */
  poll(handle: Handle, call: GenerationCall): Promise<PollOutcome>;
  /** Asks for an end of the work. */
  cancel(handle: Handle, call: GenerationCall): Promise<CancelOutcome>;
  /** Finds work that was handed over, by the task's id; absent where the vendor cannot be asked that. */
  find?(call: GenerationCall): Promise<Handle | null>;
  /** Ends idle connections and everything that runs in this process. */
  close(): Promise<void>;
};

export type GenerationTraits = {
  /** Whether handing over the same work twice does no harm: it is the same work, made and paid once. */
  isRepeatable: boolean;
  /** Whether work can be asked about after it was handed over; else what came of it is known at once, or never. */
  keepsWork: boolean;
  /** When work can still be cancelled. */
  cancels: "never" | "while-queued" | "always";
  /** How often it may be asked how work stands. */
  pollMsMin: number;
  pollMsMax: number;
};

/** What the vendor calls the work: whatever it takes to ask for it again. Kept with the task; at most 4 kB as JSON. */
export type Handle = { readonly [name: string]: string | number | boolean | null };

/** What is to be made, checked against the model, with every default filled in. */
export type GenerationRequest = ImageRequest | VideoRequest | AvatarRequest | SpeechRequest;

export type ImageRequest = {
  type: "image";
  prompt: string;
  width: number;
  height: number;
  count: number;
  /** What the images are turned into when they are kept; left out where they are kept as they come. */
  format?: ImageFormat;
  /** Options that were asked for and that no upstream is told of. */
  unheeded?: readonly string[];
};
/** `quality` is a percentage, of formats that lose something. */
export type ImageFormat = { name: "png" | "jpeg" | "webp"; quality?: number };
export type VideoRequest = { type: "video"; prompt: string; durationSeconds: number; aspectRatio: string };
/** A person, given as an image or a video, who says what is given as audio. */
export type AvatarRequest = { type: "avatar"; aspectRatio: string };
export type SpeechRequest = { type: "speech"; text: string; voice: string; format: AudioFormat; speed: number };

export const audioFormats = ["mp3", "wav", "pcm"] as const;
export type AudioFormat = (typeof audioFormats)[number];

/** Media that the work starts from: images of a request, the person and the voice of an avatar. */
export type GenerationInput = {
  role: "image" | "person" | "audio";
  contentType: string;
  bytes: number;
  /** Reads it from the beginning; may be called again. */
  open(): Promise<Readable>;
  /** Where an upstream on the internet can fetch it for a day; `null` where it only exists here. */
  url: string | null;
};

export type GenerationCall = {
  taskId: string;
  request: GenerationRequest;
  inputs: readonly GenerationInput[];
  /** The vendor's name of the model. */
  upstreamModel: string;
  apiKey: string | null;
  timeoutMs: number;
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** The value of the header `traceparent`, for an upstream that is to be told of the trace. */
  traceparent?: string | null;
};

export type SubmitOutcome =
  | { kind: "accepted"; handle: Handle }
  /** It was made while we waited. */
  | { kind: "done"; outputs: readonly MadeOutput[] }
  | { kind: "ambiguous"; error: ProviderError };

export type PollOutcome =
  /** A word that nobody knows means that the work goes on: failing it would abandon what may still be made and billed. */
  | { kind: "running"; isStarted: boolean; progress: number | null; handle?: Handle }
  | { kind: "done"; outputs: readonly MadeOutput[] }
  | { kind: "failed"; error: ProviderError }
  /** It was ended because we asked for it; what was finished before is there. */
  | { kind: "canceled"; outputs: readonly MadeOutput[] }
  /** The upstream does not know it (any more). */
  | { kind: "lost" };

export type CancelOutcome = "canceled" | "requested" | "too-late" | "unsupported";

/** Something that was made, still at the upstream's. What it is in truth is decided by its bytes. */
export type MadeOutput = {
  type: "image" | "video" | "audio";
  open(signal: AbortSignal): Promise<Readable>;
};

/** An upstream that speaks while one listens. */
export type SpeechProvider = {
  /** Answers when the first audio is there. Throws a `ProviderError` where it fails before. */
  startSpeech(call: SpeechCall): Promise<SpeechAudio>;
  close(): Promise<void>;
};

export type SpeechCall = Omit<GenerationCall, "request" | "inputs"> & { request: SpeechRequest };

export type SpeechAudio = {
  /** The audio in the format that was asked for, as it is made. Ends early by throwing a `ProviderError`. */
  chunks: AsyncIterable<Uint8Array>;
  /** How many characters of the text the audio so far says, where that is known. */
  spokenCharacters?(): number | null;
};
