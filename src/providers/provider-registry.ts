import type { Clock } from "../lib/clock.ts";
import { resolveSecret } from "../platform/config/secrets.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import { createGuardedClient } from "../platform/net/guarded-fetch.ts";
import { createAnthropicChat, createGoogleChat, createPackageChat } from "./ai-sdk/create-ai-sdk-chat.ts";
import { type ChatProvider, ProviderError } from "./contract.ts";
import { createFalGeneration } from "./fal/create-fal-generation.ts";
import type { GenerationProvider, SpeechProvider } from "./generation.ts";
import { createOpenAiCompatible } from "./openai-compatible/create-openai-compatible.ts";
import { createOpenAiGeneration } from "./openai-compatible/create-openai-generation.ts";
import { createOpenAiSpeech } from "./openai-compatible/create-openai-speech.ts";
import type { ProviderDefinition } from "./provider-definition.ts";
import { createSandboxChat } from "./sandbox/create-sandbox-chat.ts";
import { createSandboxGeneration } from "./sandbox/studio/create-sandbox-generation.ts";
import { createSandboxSpeech } from "./sandbox/studio/create-sandbox-speech.ts";
import { createStudio } from "./sandbox/studio/create-studio.ts";

export type ProviderRegistry = {
  /** The chat of a provider; the same one as long as its definition stays the same. */
  getChat(definition: ProviderDefinition): ChatProvider;
  /** What a provider makes beside chat; `null` where it makes nothing else. */
  getGeneration(definition: ProviderDefinition): GenerationProvider | null;
  getSpeech(definition: ProviderDefinition): SpeechProvider | null;
  close(): Promise<void>;
};

type RegistryParts = {
  clock: Clock;
  /** Where the sandbox keeps what it makes until it is collected. */
  studioFolder: string;
};

const connectionsMax = 20_000;
const mediaConnectionsMax = 100;
const imageBytesMax = 20 * 1024 * 1024;
const imageTimeoutMs = 15_000;
const imageTypes = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/** Makes a provider of each definition when it is first used, and remembers it. */
export function createProviderRegistry(parts: RegistryParts): ProviderRegistry {
  const images = createGuardedClient({ allowsPrivate: false });
  const fetchImage = (url: string) =>
    images.fetchBytes(url, { bytesMax: imageBytesMax, timeoutMs: imageTimeoutMs, acceptedTypes: imageTypes });
  const chats = new Map<string, { source: string; chat: ChatProvider }>();
  // One that was replaced still has calls to finish; its idle connections end by themselves.
  const all = new Set<{ close(): Promise<void> }>();
  const mediaByProvider = new Map<string, { source: string; media: MediaMakers }>();

  function getMedia(definition: ProviderDefinition): MediaMakers {
    const source = JSON.stringify(definition);
    const known = mediaByProvider.get(definition.id);
    if (known?.source === source) return known.media;
    const media = createMedia(definition, parts);
    mediaByProvider.set(definition.id, { source, media });
    for (const maker of [media.generation, media.speech]) if (maker !== null) all.add(maker);
    return media;
  }

  return {
    getChat(definition) {
      const source = JSON.stringify(definition);
      const known = chats.get(definition.id);
      if (known?.source === source) return known.chat;
      const chat = createChat(definition, { ...parts, fetchImage });
      chats.set(definition.id, { source, chat });
      all.add(chat);
      return chat;
    },
    getGeneration: (definition) => getMedia(definition).generation,
    getSpeech: (definition) => getMedia(definition).speech,
    async close() {
      await Promise.all([...all].map((one) => one.close()));
      await images.close();
    },
  };
}

/** What a provider makes beside chat. */
type MediaMakers = { generation: GenerationProvider | null; speech: SpeechProvider | null };

const nothing: MediaMakers = { generation: null, speech: null };

function createMedia(definition: ProviderDefinition, { clock, studioFolder }: RegistryParts): MediaMakers {
  const { kind, base_url: baseUrl, auth_header: authHeader } = definition;
  const common = {
    headers: resolveHeaders(definition.headers ?? {}),
    connectionsMax: definition.connections_max ?? mediaConnectionsMax,
    clock,
  };
  switch (kind) {
    case "sandbox": {
      const studio = createStudio({ folder: studioFolder, clock });
      return { generation: createSandboxGeneration({ studio }), speech: createSandboxSpeech({ studio }) };
    }
    case "fal":
      return { generation: createFalGeneration({ ...common, baseUrl }), speech: null };
    case "openai-compatible": {
      if (baseUrl === undefined) return nothing;
      const auth = authHeader === undefined ? {} : { authHeader: { name: authHeader, prefix: "" } };
      const options = { ...common, ...auth, baseUrl };
      return { generation: createOpenAiGeneration(options), speech: createOpenAiSpeech(options) };
    }
    case "anthropic":
    case "google":
    case "ai-sdk":
      return nothing;
  }
}

type ChatMakings = RegistryParts & { fetchImage(url: string): Promise<{ bytes: Buffer; contentType: string }> };

function createChat(definition: ProviderDefinition, makings: ChatMakings): ChatProvider {
  try {
    return createChatOfKind(definition, makings);
  } catch (error) {
    if (error instanceof OperatorError) return createUnusableChat(error);
    throw error;
  }
}

function createChatOfKind(definition: ProviderDefinition, { clock, fetchImage }: ChatMakings): ChatProvider {
  const headers = resolveHeaders(definition.headers ?? {});
  const vendor = { baseUrl: definition.base_url, headers, fetchImage, clock };
  switch (definition.kind) {
    case "sandbox":
      return createSandboxChat({ clock });
    case "anthropic":
      return createAnthropicChat(vendor);
    case "google":
      return createGoogleChat(vendor);
    case "fal":
      throw new OperatorError(`The provider ${definition.id} has no chat.`, "Route chat models to another provider.");
    case "ai-sdk":
      return createPackageChat({ ...vendor, packageName: definition.package ?? "" });
    case "openai-compatible":
      return createOpenAiCompatible({
        baseUrl: definition.base_url ?? "",
        headers,
        ...(definition.auth_header === undefined ? {} : { authHeader: { name: definition.auth_header, prefix: "" } }),
        outputCapField: definition.output_cap_field ?? "max_completion_tokens",
        hasStreamUsage: definition.stream_usage ?? true,
        systemRole: definition.system_role ?? "as-sent",
        unsupportedFields: definition.unsupported_fields ?? [],
        connectionsMax: definition.connections_max ?? connectionsMax,
        clock,
      });
  }
}

/** A header whose secret is not set is left out; the upstream says what that means. */
function resolveHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, text]) => {
      const value = resolveSecret(text);
      return value === null ? [] : [[name, value]];
    }),
  );
}

/** An upstream that cannot be called as it is set up fails every call, so that other routes are used and it is seen. */
function createUnusableChat(cause: OperatorError): ChatProvider {
  return {
    findObstacle: () => null,
    reportsStreamUsage: false,
    startChat(_call, sink) {
      let isWanted = true;
      queueMicrotask(() => {
        if (isWanted) sink.onError(new ProviderError("unauthorized", cause.message, { cause }));
      });
      const cancel = (): void => {
        isWanted = false;
      };
      return { pause: () => {}, resume: () => {}, cancel };
    },
    close: async () => {},
  };
}
