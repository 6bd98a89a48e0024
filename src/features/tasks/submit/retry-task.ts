import type { Clock } from "../../../lib/clock.ts";
import type { IdSource } from "../../../lib/ids.ts";
import { type Database, inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { revokeLease } from "../lease-store.ts";
import { decideTransition } from "../machine/decide-transition.ts";
import { priceTask } from "../quote-task.ts";
import { getTask } from "../read/read-task.ts";
import type { Task } from "../task.ts";
import { lockTask } from "../task-store.ts";
import { createSubmissionWriter } from "./write-submissions.ts";

type RetryDependencies = { database: Database; clock: Clock; ids: IdSource; currency: string };

export type RetryOutcome = { kind: "woken"; task: Task } | { kind: "recreated"; task: Task };

/**
 * Makes an open task due at once. For a finished task, creates a new one: the same request, price and key, regardless of
 * the account's limits. `record` is called in the transaction that wakes it, or before a new one is submitted.
 */
export async function retryTask(
  dependencies: RetryDependencies,
  taskId: string,
  record?: (tx: Database, kind: RetryOutcome["kind"]) => Promise<void>,
): Promise<RetryOutcome> {
  const task = await getTask(dependencies.database, { id: taskId });
  const isWoken = await inTransaction(dependencies.database, async (tx) => {
    const open = await lockTask(tx, taskId);
    if (open === null) return false;
    const { lease } = decideTransition(open, { kind: "wake-requested" }, dependencies.clock.now());
    if (lease.kind === "revoke") await revokeLease(tx, open.id, lease.at);
    await record?.(tx, "woken");
    return true;
  });
  if (isWoken) return { kind: "woken", task };
  if (task.parentId !== null) {
    throw new AppError("invalid_parameter", `${taskId} is a step of ${task.parentId}. Retry that task instead.`);
  }
  if (task.promptErasedAt !== null) {
    throw new AppError("invalid_parameter", `The request of ${taskId} has been erased.`);
  }
  if (record !== undefined) await inTransaction(dependencies.database, (tx) => record(tx, "recreated"));
  return { kind: "recreated", task: await recreateTask(dependencies, task) };
}

async function recreateTask({ database, clock, ids, currency }: RetryDependencies, task: Task): Promise<Task> {
  const now = clock.now();
  const lifeMs = task.deadlineAt.getTime() - task.createdAt.getTime();
  const id = ids.next("task");
  const writer = createSubmissionWriter({ database, clock, currency, keyValidityMs: 0, begin: () => {} });
  const held = priceTask(task.terms);
  const outcome = await writer.submit({
    caller: {
      accountId: task.accountId,
      keyId: task.keyId,
      // No budget or limit applies here.
      lineageId: task.keyId,
      planId: null,
      modelIds: null,
      budget: null,
      accountLimits: unlimited,
      keyLimits: {},
      logsContent: false,
    },
    held: held === 0n ? null : held,
    keyed: null,
    order: null,
    task: {
      ...task,
      id,
      holdId: held === 0n ? null : ids.next("hold"),
      steps: task.steps.map(({ name }) => ({ name, state: "queued", progress: 0, output: [], taskIds: {} })),
      outputIds: task.outputIds.map(() => ids.next("file")),
      // The operator retries it, so it does not belong to the first submission's trace.
      traceparent: null,
      deadlineAt: new Date(now.getTime() + lifeMs),
      createdAt: now,
    },
  });
  if (outcome.kind === "refused") throw outcome.error;
  return await getTask(database, { id });
}

const unlimited = {
  requestsPerMinute: Number.POSITIVE_INFINITY,
  tokensPerMinute: Number.POSITIVE_INFINITY,
  concurrentRequests: Number.POSITIVE_INFINITY,
  tasksInFlight: Number.POSITIVE_INFINITY,
};
