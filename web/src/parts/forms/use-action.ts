import { useMutation } from "@tanstack/react-query";
import { ApiError } from "../../api/console-api.ts";

export type Action<Input> = {
  run(input: Input): void;
  isBusy: boolean;
  /** What is wrong with one field, or with something in it: a list has items, a budget an amount. */
  errorAt(field: string): string | null;
  /** What is wrong, where it is none of the fields that the form shows. */
  errorBeside(...fields: readonly string[]): string | null;
  reset(): void;
};

/** Something that a person does on a page: it runs once at a time, and what went wrong is kept until the next try. */
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
