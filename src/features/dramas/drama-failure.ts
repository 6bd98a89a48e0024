import { AppError } from "../../platform/errors/app-error.ts";
import { errorTable } from "../../platform/errors/error-table.ts";
import type { Task, TaskError } from "../tasks/index.ts";

/** A drama cannot be finished. What was finished of it stays. */
export class DramaFailure extends Error {
  override readonly name = "DramaFailure";
  readonly error: TaskError;

  constructor(error: TaskError) {
    super(error.message);
    this.error = error;
  }
}

/** What the caller is told of what went wrong with one part: fields of a task that they never sent mean nothing to them. */
export function explainChild(part: string, { error, state }: Pick<Task, "error" | "state">): TaskError {
  if (error === null) {
    return { code: "upstream_unavailable", message: `${part} was ${state}.`, param: null, isRetryable: true };
  }
  const isOfContent = error.code === "content_policy_violation";
  return { ...error, message: `${part}: ${error.message}`, param: isOfContent ? "script" : null };
}

/** The same of what could not be written, or found; `null` for what is no fault of the drama. */
export function explainFailure(part: string, error: unknown): TaskError | null {
  if (error instanceof DramaFailure) return error.error;
  if (!(error instanceof AppError) || error.code === "internal_error") return null;
  // A drama has no messages: to its caller it is the script that is too long, like every prompt of a task.
  const code = error.code === "context_length_exceeded" ? "prompt_too_long" : error.code;
  const message = `The ${part}: ${error.message}`;
  const isOfText = code === "content_policy_violation" || code === "prompt_too_long";
  return { code, message, param: isOfText ? "script" : null, isRetryable: errorTable[code].isRetryable };
}
