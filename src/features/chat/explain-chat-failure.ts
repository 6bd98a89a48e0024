import type { AppError } from "../../platform/errors/app-error.ts";
import type { ProviderError } from "../../providers/contract.ts";
import { explainCallFailure, type FailureTexts } from "../calls/index.ts";

const failureTexts: FailureTexts = {
  // Clients search for OpenAI's wording.
  tooLong: {
    code: "context_length_exceeded",
    message: "This model's maximum context length is exceeded. Shorten the messages.",
    param: "messages",
  },
  explainRejection(param) {
    if (param?.endsWith(".url") === true) {
      const message = "The file at this URL could not be used. Check that it is public and of a supported type.";
      return { code: "invalid_url", message };
    }
    if (param !== null) return null;
    const message = "The model rejected this request. Check its input, tools and options.";
    return { code: "invalid_parameter", message };
  },
};

/** The error for the caller. The upstream's own message is only logged. */
export function explainChatFailure(error: ProviderError): AppError {
  return explainCallFailure(error, failureTexts);
}
