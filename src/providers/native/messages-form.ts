import type { Clock } from "../../lib/clock.ts";
import { invariant } from "../../lib/invariant.ts";
import { classifyErrorBody } from "../ai-sdk/convert-error.ts";
import { convertAnthropicUsage } from "../ai-sdk/convert-usage.ts";
import type { ChatAnswer, NativeRequest } from "../contract.ts";
import { asRecord, type JsonRecord } from "../openai-compatible/json-value.ts";
import type { AnswerForm } from "../openai-compatible/upstream-chat.ts";
import { cleanMessage, isBlockContent, readFinishReason, readWritten } from "./clean-message.ts";
import { createMessageConverter } from "./convert-message-events.ts";
import { presentMeteredChoice } from "./native-events.ts";
import { createNativeStreamReader, createNativeWholeReader } from "./read-native-answer.ts";
import { createVendorNames } from "./vendor-names.ts";

/** Reads responses of Anthropic's Messages API for a caller of the same API. */
export function createMessagesForm({ clock, host }: { clock: Clock; host: string }): AnswerForm {
  return {
    createReader({ call, outlet, errors }) {
      const { native, request } = call;
      invariant(native !== undefined, "only native requests get native answers");
      const { envelope } = native;
      if (request.stream !== true) {
        return createNativeWholeReader({ outlet, errors, convert: (answer) => convertMessage(answer, envelope) });
      }
      const names = createVendorNames(call, host);
      return createNativeStreamReader(outlet, createMessageConverter({ outlet, errors, envelope, names }));
    },

    readError: (refusal) => classifyErrorBody(refusal, clock.now()),
  };
}

function convertMessage(answer: JsonRecord, envelope: NativeRequest["envelope"]): ChatAnswer | null {
  const { content } = answer;
  if (answer.type !== "message" || !Array.isArray(content) || typeof answer.stop_reason !== "string") return null;
  return {
    choices: presentMeteredChoice(readFinishReason(answer.stop_reason)),
    text: content.map((block) => readWritten(asRecord(block))).join(""),
    ...(content.some((block) => isBlockContent(asRecord(block))) ? { isContent: true } : {}),
    usage: convertAnthropicUsage(answer.usage),
    nativeBody: cleanMessage(answer, envelope),
  };
}
