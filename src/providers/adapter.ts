import type { Clock } from "../lib/clock.ts";
import type { ChatProvider } from "./contract.ts";
import type { EmbeddingProvider } from "./embedding.ts";
import type { GenerationProvider, SpeechProvider } from "./generation.ts";
import type { TranscriptionProvider } from "./transcription.ts";

export type { Clock };

/**
 * What a package exports that brings a kind of upstream along. It is loaded when a catalog first names the kind, and
 * imports nothing of the gateway but this contract: `contract.ts`, `chat-request.ts`, `embedding.ts`, `generation.ts`,
 * `transcription.ts`, `write-vector.ts`, this file, and `adapter-tools.ts` where it makes media on this machine.
 */
export type Adapter = {
  createChat(host: AdapterHost): ChatProvider;
  createMedia(host: AdapterHost): MediaProviders;
};

/** What the gateway hands to an adapter. */
export type AdapterHost = {
  clock: Clock;
  /** A folder for its files, which several gateways may share. It may not exist yet. */
  folder: string;
};

/** What a provider makes beside chat; `null` for what it does not make. */
export type MediaProviders = {
  generation: GenerationProvider | null;
  speech: SpeechProvider | null;
  embedding: EmbeddingProvider | null;
  transcription: TranscriptionProvider | null;
};
