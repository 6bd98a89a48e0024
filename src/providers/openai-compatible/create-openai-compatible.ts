import type { Clock } from "../../lib/clock.ts";
import type { ChatProvider, NativeWire } from "../contract.ts";
import { createNativeForms, isNative, startNative } from "../native/start-native.ts";
import { buildUpstreamBody, isAskedFor, isStreamNeeded, type UpstreamHabits } from "./build-upstream-request.ts";
import { capOutput } from "./cap-output.ts";
import { type ChatEndpointOptions, createChatEndpoint } from "./chat-endpoint.ts";
import { createKnownForms } from "./choices-form.ts";
import { collectAnswer } from "./collect-answer.ts";
import { createAnswerReader } from "./read-answer.ts";
import { createStreamReader } from "./read-stream.ts";
import { readUpstreamError } from "./read-upstream-error.ts";
import type { AnswerForm } from "./upstream-chat.ts";

export type OpenAiCompatibleOptions = UpstreamHabits &
  Omit<ChatEndpointOptions, "authHeader"> & {
    /** How the key is sent, where it is not `Authorization: Bearer`. */
    authHeader?: ChatEndpointOptions["authHeader"];
    /** The wires beside chat that it speaks under the same address. */
    nativeWires?: readonly NativeWire[];
  };

const bearer = { name: "authorization", prefix: "Bearer " };

/** Chat by the API that OpenAI made common: its own, and that of everybody who copied it. */
export function createOpenAiCompatible(options: OpenAiCompatibleOptions): ChatProvider {
  const { clock, authHeader = bearer, nativeWires = [] } = options;
  const endpoint = createChatEndpoint({ ...options, authHeader });
  const path = endpoint.pathOf("chat/completions");
  const form = createChatForm(options, clock);
  const native = createNativeForms(options);

  return {
    findObstacle(request) {
      const field = options.unsupportedFields.find((name) => isAskedFor(request, name));
      return field === undefined ? null : { param: field, message: `This model does not support \`${field}\`.` };
    },

    startChat(call, sink) {
      if (isNative(call)) return startNative(endpoint, native, call, sink);
      const isStreamed = isStreamNeeded(call.request, options);
      return endpoint.start(call, sink, { path, body: buildUpstreamBody(call, options), isStreamed, form });
    },

    reportsStreamUsage: options.hasStreamUsage,
    nativeWires: new Set(nativeWires),
    close: () => endpoint.close(),
  };
}

/** The answer decides in which form it is read, and the caller in which form it is told. */
function createChatForm(habits: UpstreamHabits, clock: Clock): AnswerForm {
  const forms = createKnownForms();
  return {
    createReader({ call: { request, outputTokensMax }, headers, outlet, errors }) {
      const isStreamWanted = request.stream === true;
      const choicesAsked = request.n ?? 1;
      const type = String(headers["content-type"] ?? "");
      // Where the type says neither, it is what was asked for.
      const isStream = type.includes("event-stream") || (isStreamNeeded(request, habits) && !type.includes("json"));
      let target = isStreamWanted || !isStream ? outlet : collectAnswer(outlet);
      if (habits.outputCapField === "none") target = capOutput(target, outputTokensMax * choicesAsked);
      return isStream
        ? createStreamReader({ outlet: target, choicesAsked, forms, errors })
        : createAnswerReader({ outlet: target, isStreamWanted, hasLogprobs: request.logprobs === true, errors });
    },
    readError: (refusal) => readUpstreamError({ ...refusal, clock }),
  };
}
