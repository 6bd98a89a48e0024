/** The fields of a task that the command line uses. */
export type TaskAnswer = {
  id: string;
  type: string;
  model: string;
  status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
  progress: number;
  output: TaskOutput[];
  usage: { total_units: number; charge?: string; estimated_charge?: string };
  created: number;
  error?: { code: string; message: string; retryable: boolean };
  warnings?: { code: string; message: string }[];
  queue_position?: number;
  steps?: { name: string; status: string; progress: number }[];
};

export type TaskOutput = { type: string; url: string; content_type: string; bytes: number; sha256: string };

const finalStates: readonly string[] = ["succeeded", "failed", "canceled", "expired"];

export function isFinal({ status }: Pick<TaskAnswer, "status">): boolean {
  return finalStates.includes(status);
}
