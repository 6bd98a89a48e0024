import type { Clock } from "../../lib/clock.ts";
import { createTokenMeter } from "../../lib/token-meter.ts";
import type { ChatProvider, ChatUsage, NativeWire } from "../contract.ts";
import { createNativeForms, isNative, startNative } from "../native/start-native.ts";
import { buildUpstreamBody, isRequested, isStreamNeeded, type UpstreamQuirks } from "./build-upstream-request.ts";
import { type ChatEndpointOptions, createChatEndpoint } from "./chat-endpoint.ts";
import { createKnownForms } from "./choices-form.ts";
import { collectAnswer } from "./collect-answer.ts";
import type { Outlet } from "./outlet.ts";
import { createAnswerReader } from "./read-answer.ts";
import { createStreamReader } from "./read-stream.ts";
import { readUpstreamError } from "./read-upstream-error.ts";
import type { AnswerForm } from "./upstream-chat.ts";

export type OpenAiCompatibleOptions = UpstreamQuirks &
  Omit<ChatEndpointOptions, "authHeader"> & {
    /** How the key is sent, if not as `Authorization: Bearer`. */
    authHeader?: ChatEndpointOptions["authHeader"];
    /** Other APIs that it has under the same address. */
    nativeWires?: readonly NativeWire[];
    /** Whether a stream ends with usage. */
    reportsStreamUsage: boolean;
  };

const bearer = { name: "authorization", prefix: "Bearer " };

/** Chat through OpenAI's API: OpenAI's own and every compatible one. */
export function createOpenAiCompatible(options: OpenAiCompatibleOptions): ChatProvider {
  const { clock, authHeader = bearer, nativeWires = [] } = options;
  const endpoint = createChatEndpoint({ ...options, authHeader });
  const form = createChatForm(options, clock);
  const native = createNativeForms(options);

  return {
    findObstacle(request, passthrough = []) {
      const field = options.unsupportedFields.find((name) => isRequested(request, name));
      if (field !== undefined) return { param: field, message: `This model does not support \`${field}\`.` };
      return options.dialect?.findObstacle(request, passthrough) ?? null;
    },

    startChat(call, sink) {
      if (isNative(call)) {
        return startNative(endpoint, native, { ...call, asksStreamUsage: options.asksStreamUsage }, sink);
      }
      const isStreamed = isStreamNeeded(call.request, options);
      const path = endpoint.pathOf("chat/completions", call.upstreamModel);
      return endpoint.start(call, sink, { path, body: buildUpstreamBody(call, options), isStreamed, form });
    },

    vendorFields: options.vendorFields,
    reportsStreamUsage: options.reportsStreamUsage,
    copiesChat: options.dialect === null,
    nativeWires: new Set(nativeWires),
    close: () => endpoint.close(),
  };
}

/** The response decides how it is parsed, and the caller how it is delivered. */
function createChatForm(quirks: UpstreamQuirks, clock: Clock): AnswerForm {
  const forms = createKnownForms();
  return {
    createReader({ call: { request, outputTokensMax }, headers, outlet, errors }) {
      const isStreamWanted = request.stream === true;
      const choicesAsked = request.n ?? 1;
      const type = String(headers["content-type"] ?? "");
      // If the content type is neither, assume what was requested.
      const isStream = type.includes("event-stream") || (isStreamNeeded(request, quirks) && !type.includes("json"));
      let target = isStreamWanted || !isStream ? outlet : collectAnswer(outlet);
      if (quirks.outputCapField === "none") target = capOutput(target, outputTokensMax * choicesAsked);
      return isStream
        ? createStreamReader({ outlet: target, choicesAsked, forms, errors })
        : createAnswerReader({ outlet: target, isStreamWanted, hasLogprobs: request.logprobs === true, errors });
    },
    readError: (refusal) => readUpstreamError({ ...refusal, clock, nameField: quirks.dialect?.nameField }),
  };
}

/** Ends an answer at the cap, for upstreams without a cap parameter. Uses our own count, which is only approximate. */
function capOutput(outlet: Outlet, outputTokensMax: number): Outlet {
  const unfinished = new Set<number>();
  const meter = createTokenMeter();
  let usage: ChatUsage | null = null;
  return {
    isOpen: () => outlet.isOpen(),
    push(piece) {
      if (!outlet.isOpen() || meter.tokens() > outputTokensMax) return;
      outlet.push(piece);
      meter.add(piece.text);
      usage = piece.usage ?? usage;
      for (const { index, finish_reason: reason } of JSON.parse(piece.choices)) {
        if (reason === null) unfinished.add(index);
        else unfinished.delete(index);
      }
      if (meter.tokens() <= outputTokensMax) return;
      for (const index of unfinished) {
        outlet.push({ choices: JSON.stringify([{ index, delta: {}, finish_reason: "length" }]), text: "" });
      }
      outlet.end(usage, "cut-off");
    },
    end: (reported, rest) => outlet.end(reported, rest),
    answer: (answer, rest) => outlet.answer(answer, rest),
    fail: (error) => outlet.fail(error),
    shut: () => outlet.shut(),
  };
}
