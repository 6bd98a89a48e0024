import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { priceTask } from "./quote-task.ts";
import { getTask } from "./read-task.ts";
import type { Task } from "./task.ts";
import { lockTask } from "./task-store.ts";
import { resetTurn } from "./turn-store.ts";
import { createSubmissionWriter } from "./write-submissions.ts";

type RetryParts = { database: Database; clock: Clock; ids: IdSource; currency: string };

export type RetryOutcome = { kind: "woken"; task: Task } | { kind: "made-anew"; task: Task };

/**
 * Has a worker look at an open task at once. Of one that is over it makes a new task: the same request at the same
 * price, in the name of the same key, whatever the limits of its account.
 */
export async function retryTask(parts: RetryParts, taskId: string): Promise<RetryOutcome> {
  const task = await getTask(parts.database, { id: taskId });
  const isWoken = await inTransaction(parts.database, async (tx) => {
    const open = await lockTask(tx, { id: taskId });
    // One that is being handed over is in somebody's hands; if they died, it is taken over anyway.
    if (open !== null && open.phase !== "submitting") await resetTurn(tx, open.id, parts.clock.now());
    return open !== null;
  });
  if (isWoken) return { kind: "woken", task };
  if (task.parentId !== null) {
    throw new AppError(
      "invalid_parameter",
      `${taskId} is a step of ${task.parentId}, which has to be retried as a whole.`,
    );
  }
  return { kind: "made-anew", task: await makeAnew(parts, task) };
}

async function makeAnew(parts: RetryParts, task: Task): Promise<Task> {
  const now = parts.clock.now();
  const lifeMs = task.deadlineAt.getTime() - task.createdAt.getTime();
  const id = parts.ids.next("task");
  const writer = createSubmissionWriter({ ...parts, keyValidityMs: 0, sendJobs: async () => {} });
  const held = priceTask(task.terms);
  const outcome = await writer.submit({
    caller: {
      accountId: task.accountId,
      keyId: task.keyId,
      // Neither a budget nor a limit is counted here.
      lineageId: task.keyId,
      planId: null,
      modelIds: null,
      budget: null,
      accountLimits: unlimited,
      keyLimits: {},
    },
    held: held === 0n ? null : held,
    keyed: null,
    order: null,
    task: {
      ...task,
      id,
      holdId: held === 0n ? null : parts.ids.next("hold"),
      steps: task.steps.map(({ name }) => ({ name, state: "queued", progress: 0, output: [], taskIds: {} })),
      outputIds: task.outputIds.map(() => parts.ids.next("file")),
      deadlineAt: new Date(now.getTime() + lifeMs),
      createdAt: now,
    },
  });
  if (outcome.kind === "refused") throw outcome.error;
  return await getTask(parts.database, { id });
}

const unlimited = {
  requestsPerMinute: Number.POSITIVE_INFINITY,
  tokensPerMinute: Number.POSITIVE_INFINITY,
  concurrentRequests: Number.POSITIVE_INFINITY,
  tasksInFlight: Number.POSITIVE_INFINITY,
};
