import type { Clock } from "../lib/clock.ts";
import { invariant } from "../lib/invariant.ts";
import { environmentSecrets, type SecretReader } from "../platform/config/secrets.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import { createGuardedClient } from "../platform/net/guarded-client.ts";
import { findAccountAddress, resolveAzure } from "./accounts/account-address.ts";
import { readAwsAccount } from "./accounts/aws-access.ts";
import type { Adapter, AdapterHost, MediaProviders } from "./adapter.ts";
import { anthropicUrl, createAnthropicChat, createGoogleChat, createPackageChat } from "./ai-sdk/create-ai-sdk-chat.ts";
import { createGoogleEmbedding, createPackageEmbedding } from "./ai-sdk/create-ai-sdk-embedding.ts";
import { createBedrockChat, createBedrockEmbedding } from "./ai-sdk/create-bedrock.ts";
import { createVertexChat } from "./ai-sdk/create-vertex-chat.ts";
import { createVertexEmbedding } from "./ai-sdk/create-vertex-embedding.ts";
import { type ChatProvider, ProviderError } from "./contract.ts";
import type { EmbeddingProvider } from "./embedding.ts";
import { createFalGeneration } from "./fal/create-fal-generation.ts";
import type { GenerationProvider, SpeechProvider } from "./generation.ts";
import { withMessagesApi } from "./native/start-native.ts";
import { createOpenAiCompatible } from "./openai-compatible/create-openai-compatible.ts";
import { createOpenAiEmbedding } from "./openai-compatible/create-openai-embedding.ts";
import { createOpenAiGeneration } from "./openai-compatible/create-openai-generation.ts";
import { createOpenAiSpeech } from "./openai-compatible/create-openai-speech.ts";
import { createOpenAiTranscription } from "./openai-compatible/create-openai-transcription.ts";
import { readQuirks } from "./openai-compatible/read-quirks.ts";
import { isMediaKind, isQueueKind, isVoiceKind, type ProviderDefinition } from "./provider-definition.ts";
import { createBedrockGeneration } from "./queues/bedrock-media.ts";
import { createQueueGeneration } from "./queues/create-queue-generation.ts";
import { queueVendors } from "./queues/queue-vendors.ts";
import type { TranscriptionProvider } from "./transcription.ts";
import { createVendorSpeech } from "./voices/create-vendor-speech.ts";
import { createVendorTranscription } from "./voices/create-vendor-transcription.ts";
import { speechVendors, transcriptionVendors } from "./voices/speech-vendors.ts";

export type ProviderRegistry = {
  /** The chat of a provider; the same instance while its definition is unchanged. */
  getChat(definition: ProviderDefinition): ChatProvider;
  /** What a provider offers besides chat; `null` if it does not. */
  getGeneration(definition: ProviderDefinition): GenerationProvider | null;
  getSpeech(definition: ProviderDefinition): SpeechProvider | null;
  getEmbedding(definition: ProviderDefinition): EmbeddingProvider | null;
  getTranscription(definition: ProviderDefinition): TranscriptionProvider | null;
  close(): Promise<void>;
};

/** Loads the packages of the definitions' kinds. Must run before their first use; later calls are free. */
export type LoadAdapters = (definitions: readonly ProviderDefinition[]) => Promise<void>;

type RegistryDependencies = {
  clock: Clock;
  /** Where the sandbox stores its outputs until they are downloaded. */
  studioFolder: string;
  /** Where `upstream install` installs packages; without it only Sluice's own are found. */
  packagesFolder?: string | null;
  /** Resolves the secrets of headers; by default from the environment. */
  secrets?: Pick<SecretReader, "find">;
};

const connectionsMax = 20_000;
const mediaConnectionsMax = 100;
const imageBytesMax = 20 * 1024 * 1024;
const imageTimeoutMs = 15_000;
const imageTypes = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/** Creates a provider for each definition on its first use, and caches it. */
export function createProviderRegistry({
  clock,
  studioFolder,
  packagesFolder = null,
  secrets = environmentSecrets,
}: RegistryDependencies): ProviderRegistry & { loadAdapters: LoadAdapters } {
  const images = createGuardedClient({ allowsPrivate: false });
  const fetchImage = (url: string) =>
    images.fetchBytes(url, { bytesMax: imageBytesMax, timeoutMs: imageTimeoutMs, acceptedTypes: imageTypes });
  // A replaced provider still has calls to finish; its idle connections time out.
  const all = new Set<{ close(): Promise<void> }>();
  const host: AdapterHost = { clock, folder: studioFolder };
  let sandbox: Adapter | null = null;
  const getSandbox = (): Adapter => {
    invariant(sandbox !== null, "adapters are loaded before a catalog with their kind is served");
    return sandbox;
  };
  const dependencies = { host, getSandbox, packagesFolder, fetchImage };
  const findHeaders = (definition: ProviderDefinition) => resolveHeaders(definition.headers ?? {}, secrets);

  const getUsableChat = rememberByDefinition(findHeaders, (definition, headers) => {
    const chat = createChat(definition, { ...dependencies, headers });
    all.add(chat);
    return chat;
  });
  /** An unusable one is not cached: its package may be installed at any time. */
  function getChat(definition: ProviderDefinition): ChatProvider {
    try {
      return getUsableChat(definition);
    } catch (error) {
      if (error instanceof OperatorError) return createUnusableChat(error);
      throw error;
    }
  }
  const getMedia = rememberByDefinition(findHeaders, (definition, headers) => {
    const media = createMedia(definition, { ...dependencies, headers });
    for (const maker of Object.values(media)) if (maker !== null) all.add(maker);
    return media;
  });

  return {
    async loadAdapters(definitions) {
      if (definitions.some(({ kind }) => kind === "sandbox")) {
        ({ sandbox } = await import("../../packages/sandbox/src/index.ts"));
      }
    },
    getChat,
    getGeneration: (definition) => getMedia(definition).generation,
    getSpeech: (definition) => getMedia(definition).speech,
    getEmbedding: (definition) => getMedia(definition).embedding,
    getTranscription: (definition) => getMedia(definition).transcription,
    async close() {
      await Promise.all([...all].map((one) => one.close()));
      await images.close();
    },
  };
}

type Headers = Readonly<Record<string, string>>;

/** Caches while the definition and the secrets of its headers are unchanged. */
function rememberByDefinition<T>(
  findHeaders: (definition: ProviderDefinition) => Headers,
  create: (definition: ProviderDefinition, headers: Headers) => T,
): (definition: ProviderDefinition) => T {
  const known = new Map<string, { source: string; made: T }>();
  return (definition) => {
    const headers = findHeaders(definition);
    const source = JSON.stringify([definition, headers]);
    const last = known.get(definition.id);
    if (last?.source === source) return last.made;
    const made = create(definition, headers);
    known.set(definition.id, { source, made });
    return made;
  };
}

const nothing: MediaProviders = { generation: null, speech: null, embedding: null, transcription: null };

type AdapterDependencies = {
  host: AdapterHost;
  headers: Headers;
  getSandbox(): Adapter;
  packagesFolder: string | null;
  fetchImage(url: string): Promise<{ bytes: Buffer; contentType: string }>;
};

function createMedia(
  given: ProviderDefinition,
  { host, headers, getSandbox, packagesFolder }: AdapterDependencies,
): MediaProviders {
  const definition = resolveAzure(given);
  const { kind, base_url: baseUrl, auth_header: authHeader } = definition;
  const common = {
    headers,
    connectionsMax: definition.connections_max ?? mediaConnectionsMax,
    clock: host.clock,
  };
  if (isQueueKind(kind)) {
    return { ...nothing, generation: createQueueGeneration(queueVendors[kind], { ...common, baseUrl }) };
  }
  if (isVoiceKind(kind)) {
    const options = { ...common, baseUrl };
    const vendor = transcriptionVendors[kind];
    const transcription = vendor === undefined ? null : createVendorTranscription(vendor, options);
    return { ...nothing, ...createVendorSpeech(speechVendors[kind], options), transcription };
  }
  switch (kind) {
    case "sandbox":
      return getSandbox().createMedia(host);
    case "fal":
      return { ...nothing, generation: createFalGeneration({ ...common, baseUrl }) };
    case "openai-compatible": {
      if (baseUrl === undefined) return nothing;
      const auth = authHeader === undefined ? {} : { authHeader: { name: authHeader, prefix: "" } };
      const { idempotency_header: idempotencyHeader = null, unsupported_fields: unsupportedFields = [] } = definition;
      const options = { ...common, ...auth, baseUrl, idempotencyHeader, unsupportedFields };
      return {
        generation: createOpenAiGeneration(options),
        speech: createOpenAiSpeech(options),
        embedding: createOpenAiEmbedding(options),
        transcription: createOpenAiTranscription(options),
      };
    }
    case "google":
      return { ...nothing, embedding: createGoogleEmbedding({ ...common, baseUrl }) };
    case "ai-sdk":
      return {
        ...nothing,
        embedding: createPackageEmbedding({
          ...common,
          baseUrl,
          packageName: definition.package ?? "",
          packagesFolder,
        }),
      };
    case "bedrock-media": {
      const place = { baseUrl: findAccountAddress(definition) ?? "", account: readAwsAccount(definition) };
      return { ...nothing, generation: createBedrockGeneration({ ...common, ...place }) };
    }
    case "bedrock": {
      const place = { baseUrl: findAccountAddress(definition) ?? "", account: readAwsAccount(definition) };
      return { ...nothing, embedding: createBedrockEmbedding({ ...common, ...place }) };
    }
    case "vertex": {
      // Claude's maker has no embeddings.
      if (definition.publisher === "anthropic") return nothing;
      const place = { baseUrl: findAccountAddress(definition) ?? "" };
      return { ...nothing, embedding: createVertexEmbedding({ ...common, ...place }) };
    }
    case "azure":
    case "anthropic":
      return nothing;
  }
}

/** Throws an `OperatorError` if the provider's setup does not work. */
function createChat(
  given: ProviderDefinition,
  { host, headers, getSandbox, packagesFolder, fetchImage }: AdapterDependencies,
): ChatProvider {
  const { clock } = host;
  const definition = resolveAzure(given);
  const accountUrl = findAccountAddress(definition) ?? "";
  const { connections_max: ownConnectionsMax } = definition;
  const vendor = {
    ...{ baseUrl: definition.base_url, headers, fetchImage, clock },
    ...(ownConnectionsMax === undefined ? {} : { connectionsMax: ownConnectionsMax }),
  };
  const { kind } = definition;
  if (isMediaKind(kind)) {
    throw new OperatorError(`Provider ${definition.id} does not serve chat.`, "Route chat models to another provider.");
  }
  switch (kind) {
    case "sandbox":
      return getSandbox().createChat(host);
    case "anthropic":
      return withMessagesApi(createAnthropicChat(vendor), {
        ...{ baseUrl: definition.base_url ?? anthropicUrl, headers, clock },
        connectionsMax: definition.connections_max ?? connectionsMax,
      });
    case "google":
      return createGoogleChat(vendor);
    case "ai-sdk":
      return createPackageChat({ ...vendor, packageName: definition.package ?? "", packagesFolder });
    case "bedrock":
      return createBedrockChat({ ...vendor, baseUrl: accountUrl, account: readAwsAccount(definition) });
    case "vertex":
      return createVertexChat({ ...vendor, baseUrl: accountUrl, publisher: definition.publisher ?? "google" });
    case "azure":
    case "openai-compatible":
      return createOpenAiCompatible({
        ...readQuirks(definition),
        baseUrl: definition.base_url ?? "",
        headers,
        ...(definition.auth_header === undefined ? {} : { authHeader: { name: definition.auth_header, prefix: "" } }),
        nativeWires: definition.native_wires ?? [],
        connectionsMax: definition.connections_max ?? connectionsMax,
        clock,
      });
  }
}

/** A header without its secret is left out. The provider's routes are out of service then, so nothing is sent. */
function resolveHeaders(headers: Headers, secrets: Pick<SecretReader, "find">): Headers {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, text]) => {
      const value = secrets.find(text);
      return value === null ? [] : [[name, value]];
    }),
  );
}

/** A provider whose setup does not work fails every call, so that other routes are used and operators see it. */
function createUnusableChat(cause: OperatorError): ChatProvider {
  return {
    findObstacle: () => null,
    reportsStreamUsage: false,
    startChat(_call, sink) {
      let isWanted = true;
      queueMicrotask(() => {
        if (isWanted) sink.onError(new ProviderError("misconfigured", cause.message, { cause }));
      });
      const cancel = (): void => {
        isWanted = false;
      };
      return { pause: () => {}, resume: () => {}, cancel };
    },
    close: async () => {},
  };
}
