import type { AppError } from "../../../platform/errors/app-error.ts";
import { errorTable } from "../../../platform/errors/error-table.ts";
import type { ProviderError } from "../../../providers/contract.ts";
import { failureTable } from "../../../providers/failures/failure-table.ts";
import type { TaskError } from "../task.ts";

const messages = {
  upstream_timeout: "The model did not finish in time.",
  upstream_unavailable: "The model could not do this. Try again.",
} as const;

/** What the caller is told of a failed task; what the upstream said is for the operator's log. */
export function explainFailure(error: ProviderError): TaskError {
  switch (error.kind) {
    case "rejected":
      return describe("invalid_parameter", "The model cannot take this request. Check its fields.", error.param);
    case "content-refused":
      return describe("content_policy_violation", "The request was refused for its content.", "prompt");
    case "too-long":
      return describe("prompt_too_long", "The prompt is longer than this model can read.", "prompt");
    default: {
      const { code } = failureTable[error.kind];
      return describe(code, messages[code], null);
    }
  }
}

/** As an error of a request would say it. */
export function describeAppError({ code, message, param }: AppError): TaskError {
  return describe(code, message, param);
}

function describe(code: TaskError["code"], message: string, param: string | null): TaskError {
  return { code, message, param, isRetryable: errorTable[code].isRetryable };
}
