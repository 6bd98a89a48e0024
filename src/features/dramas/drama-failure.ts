import { AppError } from "../../platform/errors/app-error.ts";
import { errorTable } from "../../platform/errors/error-table.ts";
import type { Task, TaskError } from "../tasks/index.ts";

/** A drama failed. Its finished outputs are kept. */
export class DramaFailure extends Error {
  override readonly name = "DramaFailure";
  readonly error: TaskError;

  constructor(error: TaskError) {
    super(error.message);
    this.error = error;
  }
}

/** Explains a failed child task. Drops `param`, because the caller did not send the child's fields. */
export function explainChild(part: string, { error, state }: Pick<Task, "error" | "state">): TaskError {
  if (error === null) {
    return { code: "upstream_unavailable", message: `${part} was ${state}.`, param: null, isRetryable: true };
  }
  const isOfContent = error.code === "content_policy_violation";
  return { ...error, message: `${part}: ${error.message}`, param: isOfContent ? "script" : null };
}

/** Explains an error of a step; `null` for internal errors, which are retried. */
export function explainFailure(part: string, error: unknown): TaskError | null {
  if (error instanceof DramaFailure) return error.error;
  if (!(error instanceof AppError) || error.code === "internal_error") return null;
  // To a drama's caller, the script is the prompt that is too long.
  const code = error.code === "context_length_exceeded" ? "prompt_too_long" : error.code;
  const message = `The ${part}: ${error.message}`;
  const isOfText = code === "content_policy_violation" || code === "prompt_too_long";
  return { code, message, param: isOfText ? "script" : null, isRetryable: errorTable[code].isRetryable };
}
