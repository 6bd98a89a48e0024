import { isOver, type Task, type TaskOutput } from "../../api/ask-tasks.ts";

/** What a task is recognised by in a list. */
export type Cover =
  | { kind: "image" | "video" | "audio"; output: TaskOutput }
  /** Its words, where nothing that it made can be seen or heard. */
  | { kind: "text" }
  | { kind: "open" }
  | { kind: "failed" }
  /** What it made is not kept any more. */
  | { kind: "gone" };

const playable = /^audio\/(mpeg|wav|ogg|mp4|webm|flac)/;

export function chooseCover(task: Pick<Task, "status" | "output">, now: Date): Cover {
  if (!isOver(task)) return { kind: "open" };
  const output =
    task.output.find(({ type }) => type === "video") ??
    task.output.find(({ type }) => type === "image") ??
    task.output.find(({ type, content_type: contentType }) => type === "audio" && playable.test(contentType));
  if (output === undefined) return { kind: task.status === "succeeded" ? "text" : "failed" };
  if (new Date(output.expires_at) <= now) return { kind: "gone" };
  return { kind: output.type as "image" | "video" | "audio", output };
}

/** Images that other models start from. */
export function findInput({ output }: Pick<Task, "output">, now: Date): TaskOutput | null {
  return output.find(({ type, expires_at: expiresAt }) => type === "image" && new Date(expiresAt) > now) ?? null;
}
