import { isOver, type Task, type TaskOutput } from "../../api/fetch-tasks.ts";

/** A task's preview in a list. */
export type Cover =
  | { kind: "image" | "video" | "audio"; output: TaskOutput }
  /** Its text, if there is no image, video or audio. */
  | { kind: "text" }
  | { kind: "open" }
  | { kind: "failed" }
  /** The output has expired. */
  | { kind: "gone" };

const playable = /^audio\/(mpeg|wav|ogg|mp4|webm|flac)/;

export function chooseCover(task: Pick<Task, "status" | "output">, now: Date): Cover {
  if (!isOver(task)) return { kind: "open" };
  const output =
    task.output.find(({ type }) => type === "video") ??
    task.output.find(({ type }) => type === "image") ??
    task.output.find(({ type, content_type: contentType }) => type === "audio" && playable.test(contentType));
  if (output === undefined) return { kind: task.status === "succeeded" ? "text" : "failed" };
  // Operators who see the account get no signed links.
  if (!output.url.includes("?")) return { kind: "text" };
  if (new Date(output.expires_at) <= now) return { kind: "gone" };
  return { kind: output.type as "image" | "video" | "audio", output };
}

/** Images that other models accept as input. */
export function findInput({ output }: Pick<Task, "output">, now: Date): TaskOutput | null {
  return output.find(({ type, expires_at: expiresAt }) => type === "image" && new Date(expiresAt) > now) ?? null;
}
