import type { TaskId } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import { inTransaction } from "../../platform/database/database.ts";
import type { GenerationRequest } from "../../providers/generation.ts";
import { isClaimed, listChildren } from "./child-store.ts";
import type { NextLook } from "./decide-step.ts";
import { finishTask, type TaskEnd } from "./finish-task.ts";
import type { DirectedTask, StepRecord, Task, TaskInput, UnitTerms } from "./task.ts";
import type { TaskParts } from "./task-parts.ts";
import { insertTasks, lockTask, type NewTask, updateTask } from "./task-store.ts";

/** Takes tasks further that are made of others; given by the feature that knows of what. */
export type Direct = (task: DirectedTask, desk: Desk) => Promise<NextLook>;

/** A task that another one needs: it has a model of the catalog, and is paid with its parent. */
export type NewChild = { id: TaskId; model: string; request: GenerationRequest; inputs: readonly TaskInput[] };

type StepChange = { steps: readonly StepRecord[]; progress: number; children?: readonly NewChild[] };

/** What can be done with a task while it is in hand. */
export type Desk = {
  /** Aborted when the worker stops, when the task's time is over, and when it was canceled or given to another. */
  signal: AbortSignal;
  listChildren(): Promise<Task[]>;
  /** Writes how the steps stand together with the tasks that they need now. */
  move(task: DirectedTask, change: StepChange): Promise<DirectedTask>;
  finish(end: TaskEnd): Promise<void>;
};

/** How often a task that takes long to work on is asked after. */
const lookEveryMs = 1_000;
const progressMax = 99;

/** Somebody else has the task by now, or it is over: whatever was being done with it is dropped. */
class TaskTakenError extends Error {
  override readonly name = "TaskTakenError";
}

/** Has a task taken further by whoever knows what it is made of. */
export async function directTask(
  parts: TaskParts & { direct: Direct },
  task: DirectedTask,
  signal: AbortSignal,
): Promise<NextLook> {
  const taken = new AbortController();
  const looking = setInterval(() => {
    isClaimed(parts.database, task).then(
      (isMine) => {
        if (!isMine) taken.abort(new TaskTakenError("The task was taken away."));
      },
      // Nobody knows; whoever writes next will.
      () => {},
    );
  }, lookEveryMs);
  try {
    return await parts.direct(task, createDesk(parts, task, AbortSignal.any([signal, taken.signal])));
  } catch (error) {
    if (error instanceof TaskTakenError || taken.signal.aborted) return null;
    throw error;
  } finally {
    clearInterval(looking);
  }
}

function createDesk(parts: TaskParts, { id, claim }: DirectedTask, signal: AbortSignal): Desk {
  return {
    signal,
    listChildren: () => listChildren(parts.database, id),
    async move(task, change) {
      const moved = await writeSteps(parts, task, change);
      parts.reach("steps-written");
      parts.watch.announce(moved);
      return moved;
    },
    async finish(end) {
      await finishTask(parts, { id, claim }, end);
    },
  };
}

async function writeSteps(
  parts: TaskParts,
  task: DirectedTask,
  { steps, progress, children = [] }: StepChange,
): Promise<DirectedTask> {
  const now = parts.clock.now();
  return await inTransaction(parts.database, async (tx) => {
    const current = await lockTask(tx, task);
    if (current === null) throw new TaskTakenError("The task was taken away.");
    const change = {
      state: "processing",
      phase: "running",
      startedAt: current.startedAt ?? now,
      version: current.version + 1,
      progress: Math.max(current.progress, Math.min(Math.floor(progress), progressMax)),
      steps,
    } as const;
    await updateTask(tx, task.id, change, now);
    if (children.length > 0) {
      // Those that come late have to be found by looking; nobody else knows of them before this is committed.
      await insertTasks(
        tx,
        children.map((child) => describeChild(parts, task, child, now)),
        now,
      );
    }
    return { ...task, ...change, updatedAt: now };
  });
}

function describeChild(parts: TaskParts, parent: DirectedTask, child: NewChild, now: Date): NewTask {
  const { request } = child;
  const count = request.type === "image" ? request.count : 1;
  return {
    ...child,
    accountId: parent.accountId,
    keyId: parent.keyId,
    parentId: parent.id,
    type: request.type,
    steps: [],
    terms: paidByParent,
    holdId: null,
    outputIds: Array.from({ length: count }, () => parts.ids.next("file")),
    metadata: null,
    callbackUrl: null,
    requestId: parent.requestId,
    clientRequestId: parent.clientRequestId,
    deadlineAt: parent.deadlineAt,
    createdAt: now,
  };
}

const paidByParent: UnitTerms = {
  priceId: "parent",
  rate: nano(0n),
  per: 1n,
  minimum: nano(0n),
  counts: "calls",
  unitsMax: 0n,
  quota: { kind: "video", unitsMax: 0n },
  budgetAmount: null,
};
