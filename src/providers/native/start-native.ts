import type { Clock } from "../../lib/clock.ts";
import type { ChatCall, ChatProvider, ChatRun, ChatSink, NativeRequest, NativeWire } from "../contract.ts";
import { type ChatEndpoint, type ChatEndpointOptions, createChatEndpoint } from "../openai-compatible/chat-endpoint.ts";
import type { AnswerForm } from "../openai-compatible/upstream-chat.ts";
import { buildNativeBody } from "./build-native-body.ts";
import { createCompletionsForm } from "./completions-form.ts";
import { createMessagesForm } from "./messages-form.ts";
import { createResponsesForm } from "./responses-form.ts";

type NativeCall = ChatCall & {
  native: NativeRequest;
  /** `false` if the upstream rejects the option that asks for the usage of a stream. */
  asksStreamUsage?: boolean;
};

export type NativeForms = Readonly<Record<NativeWire, AnswerForm>>;

export function isNative(call: ChatCall): call is NativeCall {
  return call.native !== undefined;
}

/** How an upstream's responses are read, for each API. */
export function createNativeForms({ clock, baseUrl }: { clock: Clock; baseUrl: string }): NativeForms {
  const { host } = new URL(baseUrl);
  return {
    messages: createMessagesForm({ clock, host }),
    responses: createResponsesForm({ clock, host }),
    completions: createCompletionsForm({ clock }),
  };
}

/** The API version to send if the caller sends none. */
const anthropicVersion = "2023-06-01";

/** Sends a request as its caller wrote it, except for the model, the limits and the credentials. */
export function startNative(endpoint: ChatEndpoint, forms: NativeForms, call: NativeCall, sink: ChatSink): ChatRun {
  const { native, request } = call;
  const { wire } = native;
  const asked = wire === "messages" ? { "anthropic-version": anthropicVersion, ...native.headers } : native.headers;
  // A header that the operator configured wins; only `anthropic-beta` is combined.
  const headers = Object.entries(asked).filter(([name]) => name === "anthropic-beta" || !endpoint.hasHeader(name));
  return endpoint.start(call, sink, {
    path: endpoint.pathOf(wire, call.upstreamModel),
    body: buildNativeBody(call),
    isStreamed: request.stream === true,
    form: forms[wire],
    headers: headers.flat(),
  });
}

const anthropicAuthHeader = { name: "x-api-key", prefix: "" };
const messagesOnly: ReadonlySet<NativeWire> = new Set(["messages"]);

/** Adds the Messages API to a chat provider: Messages requests are forwarded unchanged, all others use chat. */
export function withMessagesApi(chat: ChatProvider, options: Omit<ChatEndpointOptions, "authHeader">): ChatProvider {
  const endpoint = createChatEndpoint({ ...options, authHeader: anthropicAuthHeader });
  const forms = createNativeForms(options);
  return {
    findObstacle: (request) => chat.findObstacle(request),
    startChat: (call, sink) => (isNative(call) ? startNative(endpoint, forms, call, sink) : chat.startChat(call, sink)),
    ...(chat.vendorFields === undefined ? {} : { vendorFields: chat.vendorFields }),
    reportsStreamUsage: chat.reportsStreamUsage,
    nativeWires: messagesOnly,
    async close() {
      await Promise.all([chat.close(), endpoint.close()]);
    },
  };
}
