import type { Clock } from "../../lib/clock.ts";
import { invariant } from "../../lib/invariant.ts";
import type { ChatAnswer, NativeRequest } from "../contract.ts";
import type { JsonRecord } from "../openai-compatible/json-value.ts";
import { readUpstreamError } from "../openai-compatible/read-upstream-error.ts";
import type { AnswerForm } from "../openai-compatible/upstream-chat.ts";
import { cleanResponse, isItemContent, readItemText, readResponseFinish, readResponseUsage } from "./clean-response.ts";
import { createResponseConverter } from "./convert-response-events.ts";
import { presentMeteredChoice } from "./native-events.ts";
import { createNativeStreamReader, createNativeWholeReader } from "./read-native-answer.ts";
import { createVendorNames } from "./vendor-names.ts";

/** Reads responses of OpenAI's Responses API for a caller of the same API. */
export function createResponsesForm({ clock, host }: { clock: Clock; host: string }): AnswerForm {
  return {
    createReader({ call, outlet, errors }) {
      const { native, request } = call;
      invariant(native !== undefined, "only native requests get native answers");
      if (request.stream !== true) {
        const hasLogprobs = request.logprobs === true;
        const convert = (answer: JsonRecord): ChatAnswer | null => convertResponse(answer, native);
        return createNativeWholeReader({ outlet, errors, hasLogprobs, convert });
      }
      const names = createVendorNames(call, host);
      return createNativeStreamReader(outlet, createResponseConverter({ outlet, errors, native, names }));
    },

    readError: (refusal) => readUpstreamError({ ...refusal, clock }),
  };
}

function convertResponse(answer: JsonRecord, native: NativeRequest): ChatAnswer | null {
  const finishReason = readResponseFinish(answer);
  if (finishReason === null || !Array.isArray(answer.output)) return null;
  return {
    choices: presentMeteredChoice(finishReason),
    text: answer.output.map(readItemText).join(""),
    ...(answer.output.some(isItemContent) ? { isContent: true } : {}),
    usage: readResponseUsage(answer.usage),
    nativeBody: cleanResponse(answer, native),
  };
}
