import { AppError } from "../../platform/errors/app-error.ts";
import type { ProviderError } from "../../providers/contract.ts";
import { explainUpstreamFault } from "../calls/index.ts";

/** What the caller is told; what the upstream said is for the operator's log, which has it already. */
export function explainChatFailure(error: ProviderError): AppError {
  const options = { ...(error.param === null ? {} : { param: error.param }), cause: error };
  switch (error.kind) {
    case "rejected":
      return error.param?.endsWith(".url") === true
        ? new AppError("invalid_url", "What the address leads to could not be used.", options)
        : new AppError("invalid_parameter", explainRejection(error.param), options);
    case "content-refused":
      return new AppError("content_policy_violation", "The request was refused for its content.", options);
    case "too-long":
      // Worded so that clients who look for OpenAI's sentence find it.
      return new AppError(
        "context_length_exceeded",
        "This model's maximum context length is exceeded. Shorten the messages.",
        { cause: error, param: "messages" },
      );
    default:
      return explainUpstreamFault(error, error.kind);
  }
}

function explainRejection(param: string | null): string {
  return param === null
    ? "The model cannot take this request. Check its messages, tools and options."
    : `The model cannot take this value of \`${param}\`.`;
}
