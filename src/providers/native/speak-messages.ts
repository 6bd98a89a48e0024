import type { ChatProvider, NativeWire } from "../contract.ts";
import { type ChatEndpointOptions, createChatEndpoint } from "../openai-compatible/chat-endpoint.ts";
import { createNativeForms, isNative, startNative } from "./start-native.ts";

const authHeader = { name: "x-api-key", prefix: "" };
const messagesOnly: ReadonlySet<NativeWire> = new Set(["messages"]);

/** A chat whose vendor speaks Messages: requests of that wire go to it as they are, all others by the chat. */
export function speakMessages(chat: ChatProvider, options: Omit<ChatEndpointOptions, "authHeader">): ChatProvider {
  const endpoint = createChatEndpoint({ ...options, authHeader });
  const forms = createNativeForms(options);
  return {
    findObstacle: (request) => chat.findObstacle(request),
    startChat: (call, sink) => (isNative(call) ? startNative(endpoint, forms, call, sink) : chat.startChat(call, sink)),
    reportsStreamUsage: chat.reportsStreamUsage,
    nativeWires: messagesOnly,
    async close() {
      await Promise.all([chat.close(), endpoint.close()]);
    },
  };
}
