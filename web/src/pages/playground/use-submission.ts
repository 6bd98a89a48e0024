import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api, ask } from "../../api/console-api.ts";
import type { Task } from "../../api/fetch-tasks.ts";
import { createRandomName } from "./create-random-name.ts";
import { type MediaType, mediaPaths } from "./media-fields.ts";

export type Submission = { type: MediaType; body: Record<string, unknown> };

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

/** All endpoints return a task; speech does with `Prefer: respond-async`. The API validates the body. */
async function submit({ type, body }: Submission, key: string): Promise<Task> {
  const call = api.POST(mediaPaths[type] as "/images/generations", {
    params: { header: { "idempotency-key": key, ...(type === "speech" ? { prefer: "respond-async" } : {}) } },
    body: body as { model: string; prompt: string },
  });
  return await ask(call);
}
