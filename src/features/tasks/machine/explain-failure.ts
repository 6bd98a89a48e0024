import type { AppError } from "../../../platform/errors/app-error.ts";
import { errorTable } from "../../../platform/errors/error-table.ts";
import type { ProviderError } from "../../../providers/contract.ts";
import { failureTable } from "../../../providers/failures/failure-table.ts";
import type { TaskError } from "../task.ts";

const messages = {
  upstream_timeout: "The model did not finish in time.",
  upstream_unavailable: "The model could not complete this task. Try again.",
} as const;

/** Uploads that were accepted, but that the model cannot use. */
const unusableFiles: ReadonlyMap<string, string> = new Map([
  ["avatar_file_id", "The model cannot use this file. Upload a picture or video in which one face is clearly visible."],
  ["audio_file_id", "The model cannot use this file. Upload a recording with one clear voice."],
]);

/**
 * The error that the caller sees. The upstream's own message goes to the operator's log only. `textField` is the
 * caller's name of the text.
 */
export function explainFailure(error: ProviderError, textField = "prompt"): TaskError {
  switch (error.kind) {
    case "rejected": {
      const file = error.param === null ? undefined : unusableFiles.get(error.param);
      if (file !== undefined) return describe("invalid_file", file, error.param);
      return describe("invalid_parameter", "The model rejected this request. Check its fields.", error.param);
    }
    case "content-refused":
      return describe("content_policy_violation", "The request was refused for its content.", textField);
    case "too-long":
      return describe("prompt_too_long", "The prompt is too long for this model.", textField);
    default: {
      const { code } = failureTable[error.kind];
      return describe(code, messages[code], null);
    }
  }
}

export function describeAppError({ code, message, param }: AppError): TaskError {
  return describe(code, message, param);
}

function describe(code: TaskError["code"], message: string, param: string | null): TaskError {
  return { code, message, param, isRetryable: errorTable[code].isRetryable };
}
