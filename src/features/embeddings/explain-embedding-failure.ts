import { AppError } from "../../platform/errors/app-error.ts";
import type { ProviderError } from "../../providers/contract.ts";
import { explainUpstreamFault } from "../calls/index.ts";

/** What the caller is told; what the upstream said is for the operator's log, which has it already. */
export function explainEmbeddingFailure(cause: ProviderError): AppError {
  const { kind, param } = cause;
  switch (kind) {
    case "rejected":
      return param === null
        ? new AppError("invalid_parameter", "The model cannot take this request. Check its fields.", { cause })
        : new AppError("invalid_parameter", `The model cannot take this value of \`${param}\`.`, { cause, param });
    case "content-refused":
      return new AppError("content_policy_violation", "The request was refused for its content.", {
        cause,
        param: "input",
      });
    case "too-long":
      return new AppError("context_length_exceeded", "This model's maximum context length is exceeded.", {
        cause,
        param: "input",
      });
    default:
      return explainUpstreamFault(cause, kind);
  }
}
