import { isDirected, type Task } from "./task.ts";

/** What a worker does next with a task that it has in hand. */
export type TaskStep =
  /** Its time is over. */
  | { kind: "expire" }
  /** Nothing was begun that would have to be stopped. */
  | { kind: "cancel" }
  /** Find an upstream and hand the task to it. */
  | { kind: "submit" }
  /** Whoever was handing it over died: nobody knows whether the upstream has it. */
  | { kind: "recover" }
  /** Ask the upstream to stop. */
  | { kind: "stop" }
  /** Ask the upstream how it stands. */
  | { kind: "poll" }
  /** Take it further by the tasks that it is made of. */
  | { kind: "direct" }
  | { kind: "nothing" };

/** When a task is looked at next; `null` when that is written already, or when there is nothing to look at. */
export type NextLook = Date | null;

/** Decides by what is written alone, so that any worker comes to the same step after any crash. */
export function decideStep(task: Task, now: Date): TaskStep {
  if (task.phase === "ended") return { kind: "nothing" };
  if (now >= task.deadlineAt) return { kind: "expire" };
  if (isDirected(task)) return { kind: "direct" };
  const isUnwanted = task.cancelRequestedAt !== null;
  switch (task.phase) {
    case "ready":
      return { kind: isUnwanted ? "cancel" : "submit" };
    case "submitting":
      return { kind: "recover" };
    case "unknown":
      return { kind: isUnwanted ? "cancel" : "recover" };
    case "running":
      return { kind: isUnwanted && task.cancelAskedAt === null ? "stop" : "poll" };
  }
}

const share = 0.1;
const jitter = 0.2;

/** The longer work takes, the less often it is asked about; never all tasks in the same moment. */
export function choosePollDelayMs(
  { submittedAt, createdAt }: Pick<Task, "submittedAt" | "createdAt">,
  { now, random, pollMsMin, pollMsMax }: { now: Date; random(): number; pollMsMin: number; pollMsMax: number },
): number {
  const elapsedMs = now.getTime() - (submittedAt ?? createdAt).getTime();
  const delayMs = Math.min(Math.max(elapsedMs * share, pollMsMin), pollMsMax);
  return Math.round(delayMs * (1 - jitter + 2 * jitter * random()));
}
