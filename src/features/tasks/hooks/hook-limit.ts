import type { Clock } from "../../../lib/clock.ts";

const windowMs = 10_000;
const hooksMax = 20;
const tasksMax = 10_000;

/** Whether a task has had so many callbacks lately that further ones are dropped. */
export function createHookLimit({ clock }: { clock: Pick<Clock, "monotonicMs"> }): (taskId: string) => boolean {
  const counts = new Map<string, number>();
  let endsAtMs = 0;
  return (taskId) => {
    const nowMs = clock.monotonicMs();
    if (nowMs >= endsAtMs || counts.size >= tasksMax) {
      counts.clear();
      endsAtMs = nowMs + windowMs;
    }
    const count = (counts.get(taskId) ?? 0) + 1;
    counts.set(taskId, count);
    return count > hooksMax;
  };
}
