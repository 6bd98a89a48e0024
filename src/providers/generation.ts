import type { Readable } from "node:stream";
import type { ProviderError, UpstreamTerms } from "./contract.ts";
import type { OptionValues } from "./media-options.ts";
import type { RouteTerms } from "./route-terms.ts";
import type { VendorHook } from "./vendor-hook.ts";

/**
 * The interface of every upstream that makes media. A provider converts a request to its vendor's format and the
 * response to ours; it knows nothing of accounts, prices, tasks or routes. Callers see nothing of it except the
 * outputs.
 */
export type GenerationProvider = {
  readonly traits: GenerationTraits;
  /** How the vendor calls back; absent if it does not. */
  readonly hook?: Pick<VendorHook, "signature" | "secretField" | "echoes">;
  /** What this upstream does not support in the request, before anything is sent; `null` if nothing. */
  findObstacle(request: GenerationRequest, call: ObstacleSearch): { param: string; message: string } | null;
  /**
   * Submits the job. Throws a `ProviderError` only if it is certain that no job was started; otherwise, such as after a
   * broken connection, returns `ambiguous`.
   */
  submit(call: GenerationCall): Promise<SubmitOutcome>;
  /** The state of the job. Safe to repeat, even after its end. Throws if the upstream cannot be reached. */
  poll(handle: Handle, call: GenerationCall): Promise<PollOutcome>;
  /** Requests the end of the job. */
  cancel(handle: Handle, call: GenerationCall): Promise<CancelOutcome>;
  /** Finds a submitted job by the task's id; absent if the vendor does not support it. */
  find?(call: GenerationCall): Promise<Handle | null>;
  /** Closes idle connections and stops everything in this process. */
  close(): Promise<void>;
};

export type GenerationTraits = {
  /** Whether submitting the same job twice is harmless: it runs and is charged once. */
  isRepeatable: boolean;
  /** Whether a job can be polled after its submission; otherwise its result comes with the response, or never. */
  keepsWork: boolean;
  /** When a job can still be cancelled. */
  cancels: "never" | "while-queued" | "always";
  /** The polling interval. No upstream is polled sooner after a poll, whatever happens to workers. */
  pollMsMin: number;
  pollMsMax: number;
};

/** What a request is sent with, as far as it is known before its inputs are loaded. */
export type ObstacleSearch = {
  inputs: readonly Pick<GenerationInput, "role">[];
  route: RouteTerms;
  /** The vendor's name of the model; absent: what no model of the vendor can do. */
  upstreamModel?: string;
};

/** The vendor's reference to the job. Stored with the task; at most 4 kB as JSON. */
export type Handle = { readonly [name: string]: string | number | boolean | null };

/** The request, validated against the model, with every default filled in. */
export type GenerationRequest = ImageRequest | VideoRequest | AvatarRequest | SpeechRequest;

export type ImageRequest = {
  type: "image";
  prompt: string;
  width: number;
  height: number;
  count: number;
  /** The format that images are converted to when stored; absent if they are stored as they arrive. */
  format?: ImageFormat;
  options?: OptionValues;
};
/** `quality` is a percentage, for lossy formats. */
export type ImageFormat = { name: "png" | "jpeg" | "webp"; quality?: number };
export type VideoRequest = {
  type: "video";
  prompt: string;
  durationSeconds: number;
  aspectRatio: string;
  options?: OptionValues;
};
/** A person, as an image or video, who speaks the given audio. */
export type AvatarRequest = { type: "avatar"; aspectRatio: string; options?: OptionValues };
export type SpeechRequest = {
  type: "speech";
  text: string;
  voice: string;
  format: AudioFormat;
  speed: number;
  options?: OptionValues;
};

export const audioFormats = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const;
export type AudioFormat = (typeof audioFormats)[number];

/** Input media: images of a request, the last frame of a video, the person and the voice of an avatar. */
export type GenerationInput = {
  role: "image" | "last-image" | "person" | "audio";
  contentType: string;
  bytes: number;
  /** Reads it from the start; may be called again. */
  open(): Promise<Readable>;
  /** A URL that an upstream on the internet can fetch for a day; `null` if there is none. */
  url: string | null;
};

export type GenerationCall = UpstreamTerms & {
  taskId: string;
  request: GenerationRequest;
  inputs: readonly GenerationInput[];
  route: RouteTerms;
  /** Where the vendor may call back, and a secret to sign with; `null` or absent if it cannot reach us. */
  callback?: HookAddress | null;
};

export type HookAddress = { url: string; secret: string };

export type SubmitOutcome =
  | { kind: "accepted"; handle: Handle }
  /** The result came with the response. */
  | { kind: "done"; outputs: readonly MadeOutput[] }
  | { kind: "ambiguous"; error: ProviderError };

export type PollOutcome =
  /** An unknown status counts as running: failing it would abandon a job that may still finish and be billed. */
  | { kind: "running"; isStarted: boolean; progress: number | null; handle?: Handle }
  | { kind: "done"; outputs: readonly MadeOutput[] }
  | { kind: "failed"; error: ProviderError }
  /** It was cancelled on our request; outputs finished before are included. */
  | { kind: "canceled"; outputs: readonly MadeOutput[] }
  /** The upstream does not know the job, or no longer. */
  | { kind: "lost" };

export type CancelOutcome = "canceled" | "requested" | "too-late" | "unsupported";

/** An output, still at the upstream. Its real type is decided by its bytes. */
export type MadeOutput = {
  type: "image" | "video" | "audio";
  open(signal: AbortSignal): Promise<Readable>;
  /** The prompt as the upstream rewrote it. */
  revisedPrompt?: string;
};

/** An upstream that streams speech. */
export type SpeechProvider = {
  /** As of `GenerationProvider`. */
  findObstacle(request: SpeechRequest, route: RouteTerms): { param: string; message: string } | null;
  /** Resolves with the first audio. Throws a `ProviderError` on failure before that. */
  startSpeech(call: SpeechCall): Promise<SpeechAudio>;
  close(): Promise<void>;
};

export type SpeechCall = Omit<GenerationCall, "request" | "inputs"> & { request: SpeechRequest };

export type SpeechAudio = {
  /** The audio in the requested format, as it is made. Throws a `ProviderError` if it breaks off. */
  chunks: AsyncIterable<Uint8Array>;
  /** How many characters of the text the audio so far contains, if known. */
  spokenCharacters?(): number | null;
};
