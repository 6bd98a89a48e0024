import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api, ask } from "../../api/console-api.ts";
import type { Task } from "../../api/fetch-tasks.ts";
import { createRandomName } from "./create-random-name.ts";
import { type MediaType, mediaPaths } from "./media-fields.ts";

export type Submission = {
  type: MediaType;
  body: Record<string, unknown>;
  /** Caps the charge. */
  quoteId?: string | null;
};

export function useSubmission(onSubmitted: (task: Task) => void) {
  const [submitOnce] = useState(createSubmitter);
  const mutation = useMutation({ mutationFn: submitOnce, onSuccess: onSubmitted });
  return {
    submit: (submission: Submission) => {
      if (!mutation.isPending) mutation.mutate(submission);
    },
    isBusy: mutation.isPending,
    error: mutation.error,
    reset: mutation.reset,
  };
}

/** After an error that leaves the outcome unknown, a retry reuses the idempotency key, so only one task is created. */
export function createSubmitter(): (submission: Submission) => Promise<Task> {
  let unsure: { key: string; text: string; quoteId: string | null } | null = null;
  return async ({ quoteId = null, ...submission }) => {
    const text = JSON.stringify(submission);
    // The same request with the same quote, or it would be another one under its key.
    const sent = unsure?.text === text ? unsure : { key: createRandomName(), text, quoteId };
    unsure = sent;
    try {
      const task = await submitQuoted(submission, sent);
      unsure = null;
      return task;
    } catch (error) {
      if (error instanceof ApiError && error.status > 0 && error.status < 500) unsure = null;
      throw error;
    }
  };
}

type Sent = { key: string; quoteId: string | null };

/** A quote can end or stop fitting before it is used: then the request is sent at the present price. */
async function submitQuoted(submission: Submission, sent: Sent): Promise<Task> {
  try {
    return await submit(submission, sent);
  } catch (error) {
    if (sent.quoteId === null || !(error instanceof ApiError) || !error.code.startsWith("quote_")) throw error;
    sent.quoteId = null;
    return await submit(submission, sent);
  }
}

/** All endpoints return a task; speech does with `Prefer: respond-async`. The API validates the body. */
async function submit({ type, body }: Submission, { key, quoteId }: Sent): Promise<Task> {
  const call = api.POST(mediaPaths[type] as "/images/generations", {
    params: {
      header: {
        "idempotency-key": key,
        ...(quoteId === null ? {} : { "x-quote-id": quoteId }),
        ...(type === "speech" ? { prefer: "respond-async" } : {}),
      },
    },
    body: body as { model: string; prompt: string },
  });
  return await ask(call);
}
