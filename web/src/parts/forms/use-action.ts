import { useMutation } from "@tanstack/react-query";
import { ApiError } from "../../api/console-api.ts";

export type Action<Input> = {
  run(input: Input): void;
  isBusy: boolean;
  /** The error of a field or of something nested in it. */
  errorAt(field: string): string | null;
  /** The error, unless it belongs to one of the form's fields. */
  errorBeside(...fields: readonly string[]): string | null;
  reset(): void;
};

/** A user action: runs once at a time and keeps its error until the next run. */
export function useAction<Input, Output>(
  perform: (input: Input) => Promise<Output>,
  onDone?: (output: Output, input: Input) => void,
): Action<Input> {
  const mutation = useMutation({ mutationFn: perform, ...(onDone === undefined ? {} : { onSuccess: onDone }) });
  const error = mutation.error;
  const field = error instanceof ApiError ? error.param : null;
  return {
    run: (input) => {
      if (!mutation.isPending) mutation.mutate(input);
    },
    isBusy: mutation.isPending,
    errorAt: (name) => (error !== null && isWithin(field, name) ? error.message : null),
    errorBeside: (...names) => (error === null || names.some((name) => isWithin(field, name)) ? null : describe(error)),
    reset: mutation.reset,
  };
}

function isWithin(field: string | null, name: string): boolean {
  return field === name || field?.startsWith(`${name}.`) === true || field?.startsWith(`${name}[`) === true;
}

function describe(error: Error): string {
  if (error instanceof ApiError && error.retryAfterSeconds !== null && error.status === 429) {
    const minutes = Math.ceil(error.retryAfterSeconds / 60);
    const wait = error.retryAfterSeconds < 90 ? `${error.retryAfterSeconds} seconds` : `${minutes} minutes`;
    return `${error.message} Try again in ${wait}.`;
  }
  return error.message;
}
