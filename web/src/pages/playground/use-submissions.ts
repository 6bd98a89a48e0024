import { useRef, useState } from "react";
import { createSubmitter, type Submission } from "./use-submission.ts";

type Submitter = ReturnType<typeof createSubmitter>;

/** Submissions to several models, by model id. Each fails and retries independently. */
export function useSubmissions(onSubmitted: (model: string, taskId: string) => void) {
  const submitters = useRef(new Map<string, Submitter>());
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set());
  const [errors, setErrors] = useState<ReadonlyMap<string, Error>>(new Map());

  async function run(model: string, submission: Submission): Promise<void> {
    const submitOnce = submitters.current.get(model) ?? createSubmitter();
    submitters.current.set(model, submitOnce);
    setBusy((last) => new Set([...last, model]));
    setErrors((last) => new Map([...last].filter(([id]) => id !== model)));
    try {
      onSubmitted(model, (await submitOnce(submission)).id);
    } catch (error) {
      const shown = error instanceof Error ? error : new Error("Something went wrong. Try again.");
      setErrors((last) => new Map([...last, [model, shown]]));
    } finally {
      setBusy((last) => new Set([...last].filter((id) => id !== model)));
    }
  }

  return {
    isBusy: busy.size > 0,
    errorOf: (model: string) => errors.get(model) ?? null,
    submit: (model: string, submission: Submission) => {
      if (!busy.has(model)) void run(model, submission);
    },
  };
}
