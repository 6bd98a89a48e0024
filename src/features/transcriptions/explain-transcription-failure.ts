import { AppError } from "../../platform/errors/app-error.ts";
import type { ProviderError } from "../../providers/contract.ts";
import { explainUpstreamFault } from "../calls/index.ts";

/** What the caller is told; what the upstream said is for the operator's log, which has it already. */
export function explainTranscriptionFailure(error: ProviderError): AppError {
  const options = { ...(error.param === null ? {} : { param: error.param }), cause: error };
  switch (error.kind) {
    case "rejected":
      return error.param === "file"
        ? new AppError("invalid_file", "The model cannot take this file.", options)
        : new AppError("invalid_parameter", explainRejection(error.param), options);
    case "content-refused":
      return new AppError("content_policy_violation", "The request was refused for its content.", options);
    case "too-long":
      return new AppError("invalid_file", "The recording is longer than this model can take.", {
        cause: error,
        param: "file",
      });
    default:
      return explainUpstreamFault(error, error.kind);
  }
}

function explainRejection(param: string | null): string {
  return param === null
    ? "The model cannot take this request. Check its fields."
    : `The model cannot take this value of \`${param}\`.`;
}
