import type { TaskId } from "../../lib/ids.ts";
import { isFinal, type StepRecord, type Task } from "../tasks/index.ts";

/** A step's child tasks by purpose. */
export type Children = ReadonlyMap<string, Task>;

export function groupChildren(step: StepRecord | null, children: readonly Task[]): Children {
  const byId = new Map(children.map((child) => [child.id, child]));
  const entries = Object.entries(step?.taskIds ?? {}).flatMap(([purpose, id]): [string, Task][] => {
    const child = byId.get(id);
    return child === undefined ? [] : [[purpose, child]];
  });
  return new Map(entries);
}

/** The progress of a step that needs `countAll` tasks. */
export function measureProgress(children: Children, countAll: number): number {
  let sum = 0;
  for (const child of children.values()) sum += isFinal(child.state) ? 100 : child.progress;
  return countAll === 0 ? 100 : Math.min(100, sum / countAll);
}

export function addIds(step: StepRecord, added: readonly { purpose: string; id: TaskId }[]): StepRecord["taskIds"] {
  return { ...step.taskIds, ...Object.fromEntries(added.map(({ purpose, id }) => [purpose, id])) };
}
