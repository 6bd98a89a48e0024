import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Task } from "../../api/ask-tasks.ts";
import { ApiError, api, ask } from "../../api/console-api.ts";
import { createRandomName } from "./create-random-name.ts";
import { type MediaType, mediaPaths } from "./media-fields.ts";

export type Submission = { type: MediaType; body: Record<string, unknown> };

/** Submits a request, once for each press. */
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

/**
 * After an error that leaves open whether the request arrived, a retry sends the same idempotency key, so that it can
 * become one task only.
 */
export function createSubmitter(): (submission: Submission) => Promise<Task> {
  let unsure: { key: string; text: string } | null = null;
  return async (submission) => {
    const text = JSON.stringify(submission);
    const key = unsure?.text === text ? unsure.key : createRandomName();
    unsure = { key, text };
    try {
      const task = await submit(submission, key);
      unsure = null;
      return task;
    } catch (error) {
      if (error instanceof ApiError && error.status > 0 && error.status < 500) unsure = null;
      throw error;
    }
  };
}

/** Every path answers with a task; speech does because it is asked to. The API checks the body, the page built it. */
async function submit({ type, body }: Submission, key: string): Promise<Task> {
  const call = api.POST(mediaPaths[type] as "/images/generations", {
    params: { header: { "idempotency-key": key, ...(type === "speech" ? { prefer: "respond-async" } : {}) } },
    body: body as { model: string; prompt: string },
  });
  return await ask(call);
}
