import type { Clock } from "../../lib/clock.ts";
import type { ChatCall, ChatRun, ChatSink, NativeRequest, NativeWire } from "../contract.ts";
import type { ChatEndpoint } from "../openai-compatible/chat-endpoint.ts";
import type { AnswerForm } from "../openai-compatible/upstream-chat.ts";
import { buildNativeBody } from "./build-native-body.ts";
import { createMessagesForm } from "./messages-form.ts";
import { createResponsesForm } from "./responses-form.ts";

export type NativeCall = ChatCall & { native: NativeRequest };

export type NativeForms = Readonly<Record<NativeWire, AnswerForm>>;

export function isNative(call: ChatCall): call is NativeCall {
  return call.native !== undefined;
}

/** How the answers of an upstream at this host are read, for each wire. */
export function createNativeForms({ clock, baseUrl }: { clock: Clock; baseUrl: string }): NativeForms {
  const { host } = new URL(baseUrl);
  return { messages: createMessagesForm({ clock, host }), responses: createResponsesForm({ clock, host }) };
}

/** What the vendor wants to be told of the API's version where the caller does not say. */
const anthropicVersion = "2023-06-01";

/** Sends a request as its caller wrote it, but for the model, the limits and who asks. */
export function startNative(endpoint: ChatEndpoint, forms: NativeForms, call: NativeCall, sink: ChatSink): ChatRun {
  const { native, request } = call;
  const { wire } = native;
  const asked = wire === "messages" ? { "anthropic-version": anthropicVersion, ...native.headers } : native.headers;
  // What the operator sends with every request is not said twice; only betas add up.
  const headers = Object.entries(asked).filter(([name]) => name === "anthropic-beta" || !endpoint.hasHeader(name));
  return endpoint.start(call, sink, {
    path: endpoint.pathOf(wire),
    body: buildNativeBody(call),
    isStreamed: request.stream === true,
    form: forms[wire],
    headers: headers.flat(),
  });
}
