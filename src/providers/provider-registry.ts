import type { Clock } from "../lib/clock.ts";
import { resolveSecret } from "../platform/config/secrets.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import { createGuardedClient } from "../platform/net/guarded-fetch.ts";
import { createAnthropicChat, createGoogleChat, createPackageChat } from "./ai-sdk/create-ai-sdk-chat.ts";
import { type ChatProvider, ProviderError } from "./contract.ts";
import { createOpenAiCompatible } from "./openai-compatible/create-openai-compatible.ts";
import type { ProviderDefinition } from "./provider-definition.ts";
import { createSandboxChat } from "./sandbox/create-sandbox-chat.ts";

export type ProviderRegistry = {
  /** The chat of a provider; the same one as long as its definition stays the same. */
  getChat(definition: ProviderDefinition): ChatProvider;
  close(): Promise<void>;
};

type RegistryParts = { clock: Clock };

const connectionsMax = 20_000;
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
  const all = new Set<ChatProvider>();
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
    async close() {
      await Promise.all([...all].map((chat) => chat.close()));
      await images.close();
    },
  };
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
