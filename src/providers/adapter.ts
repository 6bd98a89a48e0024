import type { Clock } from "../lib/clock.ts";
import type { ChatProvider } from "./contract.ts";
import type { EmbeddingProvider } from "./embedding.ts";
import type { GenerationProvider, SpeechProvider } from "./generation.ts";
import type { TranscriptionProvider } from "./transcription.ts";

export type { Clock };

/**
 * The export of a package that adds a kind of upstream. It is loaded when a catalog first names the kind, and imports
 * only this contract from the gateway: `contract.ts`, `chat-request.ts`, `embedding.ts`, `generation.ts`,
 * `transcription.ts`, `write-vector.ts`, this file, and `adapter-tools.ts` if it makes media on this machine.
 */
export type Adapter = {
  createChat(host: AdapterHost): ChatProvider;
  createMedia(host: AdapterHost): MediaProviders;
};

/** What the gateway passes to an adapter. */
export type AdapterHost = {
  clock: Clock;
  /** A folder for its files. Several gateways may share it, and it may not exist yet. */
  folder: string;
};

/** What a provider offers besides chat; `null` for what it does not. */
export type MediaProviders = {
  generation: GenerationProvider | null;
  speech: SpeechProvider | null;
  embedding: EmbeddingProvider | null;
  transcription: TranscriptionProvider | null;
};
