import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import { type Nano, nano } from "../../lib/money.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import { releaseHold, settleHold } from "../ledger/index.ts";
import { recordEvent } from "../webhooks/index.ts";
import { cancelChildren } from "./child-store.ts";
import { changeCounts, lockCounts } from "./count-store.ts";
import { describeEvent } from "./present-task.ts";
import { billDelivered, nothing } from "./quote-task.ts";
import {
  type FinalState,
  isFinal,
  type StepRecord,
  type Task,
  type TaskError,
  type TaskOutput,
  type TaskWarning,
} from "./task.ts";
import type { TaskPoint } from "./task-parts.ts";
import { lockTask, updateTask } from "./task-store.ts";
import { deleteTurn, wakeWaitingTask } from "./turn-store.ts";
import type { TaskWatch } from "./watch-tasks.ts";

/** How a task ends. What was made is kept already. */
export type TaskEnd =
  | {
      state: "succeeded";
      output: readonly TaskOutput[];
      warnings: readonly TaskWarning[];
      /** As they are at the end, where the task has any. */
      steps?: readonly StepRecord[];
    }
  | { state: "canceled"; output: readonly TaskOutput[] }
  /** What a task made of others had finished by then is kept and charged. */
  | { state: "failed"; error: TaskError; output?: readonly TaskOutput[] }
  | { state: "expired" };

export type FinishParts = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  logger: Logger;
  watch: Pick<TaskWatch, "announce">;
  /** Lets few at a time: those of one account wait for each other, each with a connection in hand. */
  takeTurn<T>(work: () => Promise<T>): Promise<T>;
  reach(point: TaskPoint): void;
};

/**
 * Ends a task: its state, its charge and the event that tells of it become true together, and only once. `null` when it
 * has ended already, or when another worker has it by now.
 */
export async function finishTask(
  parts: FinishParts,
  turn: { id: Task["id"]; claim?: number },
  end: TaskEnd,
): Promise<Task | null> {
  const finished = await parts.takeTurn(() =>
    inTransaction(parts.database, async (tx) => {
      const task = await lockTask(tx, turn);
      return task === null ? null : await endLocked(parts, tx, task, end);
    }),
  );
  if (finished === null) return null;
  parts.reach("finished");
  parts.watch.announce(finished);
  // Not in the transaction, whose locks come in another order: if this is lost, the next task only waits a little longer.
  if (finished.target !== null) await wakeWaitingTask(parts.database, finished.target.providerId, parts.clock.now());
  return finished;
}

/** The end of a task whose turn is locked. Counts are locked before wallets, by everybody. */
export async function endLocked(parts: FinishParts, tx: Database, task: Task, end: TaskEnd): Promise<Task> {
  const now = parts.clock.now();
  const output = ("output" in end ? end.output : undefined) ?? [];
  const owners = [task.accountId, task.keyId];
  if (task.parentId === null) await lockCounts(tx, owners);
  const { charge, units } = await settle(parts, tx, task, output, now);
  const change = {
    state: end.state,
    phase: "ended",
    version: task.version + 1,
    output,
    charge,
    units,
    finishedAt: now,
    ...(task.steps.length === 0
      ? {}
      : { steps: endSteps(("steps" in end ? end.steps : undefined) ?? task.steps, end.state) }),
    ...(end.state === "succeeded" ? { progress: 100, warnings: end.warnings } : {}),
    ...(end.state === "failed" ? { error: end.error } : {}),
  } as const;
  await updateTask(tx, task.id, change, now);
  await deleteTurn(tx, task.id);
  if (task.steps.length > 0) await cancelChildren(tx, task.id, now);
  if (task.parentId === null) await changeCounts(tx, new Map(owners.map((owner) => [owner, -1])));
  const ended: Task = { ...task, ...change, updatedAt: now };
  if (task.parentId === null) await tell(parts, tx, ended);
  parts.reach("finish-written");
  return ended;
}

/** What a task was just doing ends as the task does; what it had not begun will never be. */
function endSteps(steps: readonly StepRecord[], state: FinalState): StepRecord[] {
  return steps.map((step) => {
    if (isFinal(step.state)) return step;
    const isBegun = step.state === "processing";
    return { ...step, state: state === "failed" && !isBegun ? "canceled" : state };
  });
}

async function settle(
  { logger }: FinishParts,
  tx: Database,
  task: Task,
  output: readonly TaskOutput[],
  now: Date,
): Promise<{ charge: Nano; units: bigint }> {
  const { accountId, holdId, terms } = task;
  const { bill, units } = billDelivered(terms, output);
  if (holdId === null) return { charge: nothing, units };
  if (bill === null) {
    await releaseHold(tx, { accountId, holdId }, now);
    return { charge: nothing, units };
  }
  const { budgetAmount } = terms;
  const result = await settleHold(tx, { accountId, holdId, bill, overrun: "take-available", budgetAmount }, now);
  if (result.kind !== "settled") {
    // It made what was asked for, and the caller gets it; that nobody paid is for the operator to find out.
    logger.error({ task: task.id, hold: holdId, result: result.kind }, "a finished task could not be charged");
    return { charge: nothing, units: 0n };
  }
  return { charge: result.unit === "money" ? nano(result.paid) : nothing, units };
}

async function tell(parts: FinishParts, tx: Database, task: Task): Promise<void> {
  const type = `task.${task.state}` as "task.succeeded" | "task.failed" | "task.canceled" | "task.expired";
  const { accountId, callbackUrl, finishedAt } = task;
  const event = { id: parts.ids.next("evt"), accountId, type, createdAt: finishedAt ?? parts.clock.now(), callbackUrl };
  await recordEvent(tx, { ...event, data: describeEvent(task) }, parts);
}
