import type { Caller } from "../../../lib/caller.ts";
import type { Clock } from "../../../lib/clock.ts";
import { type Coalescer, createCoalescer } from "../../../lib/coalescer.ts";
import type { AccountId, HoldId, TaskId } from "../../../lib/ids.ts";
import { invariant } from "../../../lib/invariant.ts";
import type { Nano } from "../../../lib/money.ts";
import { type Database, isDatabaseUnavailable } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { Span, Tracing } from "../../../platform/tracing/span.ts";
import { toSpanFailure } from "../../../platform/tracing/to-span-failure.ts";
import { claimWithAnswers, withdrawClaims } from "../../idempotency/index.ts";
import { explainRefusedHold, openHolds, type RefusalTexts } from "../../ledger/index.ts";
import { changeCounts, lockCounts } from "../count-store.ts";
import type { NewTask } from "../task.ts";
import { insertTasks } from "../task-store.ts";
import { claimOrders, type OwnedOrder, type TaskOrder, withdrawOrders } from "./order-store.ts";

/** A validated task, ready to be written. */
export type Submission = {
  task: NewTask;
  caller: Caller;
  /** The amount to hold; `null` for a free task. */
  held: Nano | null;
  keyed: { key: string; fingerprint: Buffer } | null;
  /** The caller's `client_business_id`, if any. */
  order: TaskOrder | null;
  /** The submission's span, if it is traced. */
  span?: Span | null;
};

export type SubmissionOutcome =
  | { kind: "created" }
  | { kind: "key-taken" }
  | { kind: "order-taken" }
  | { kind: "full"; limit: FullLimit }
  | { kind: "refused"; error: AppError };

/** An exhausted limit of open tasks: the account's or the key's own. */
export type FullLimit = { owner: "account" | "API key"; max: number };

type SubmissionDependencies = RefusalTexts & {
  database: Database;
  clock: Clock;
  keyValidityMs: number;
  tracing?: Tracing | null;
  /** Starts written tasks. */
  begin(taskIds: readonly TaskId[]): void;
  /** Called for each written task. */
  onCreated?(accountId: AccountId): void;
};

const batchMax = 200;
const waitingMax = 10_000;
/** A hold outlives its task's deadline, because the task releases it then. */
const holdMarginMs = 60 * 60_000;
/** The content type under which an idempotency key stores a task: the body is the task's id. */
export const keptTaskType = "application/x-task-id";

/**
 * Writes new tasks: price, hold, task and idempotency key in one transaction. Concurrent submissions share a
 * transaction.
 */
export function createSubmissionWriter(dependencies: SubmissionDependencies): Coalescer<Submission, SubmissionOutcome> {
  return createCoalescer({
    batchMax,
    waitingMax,
    async run(batch) {
      const outcomes = await writeTraced(dependencies, batch);
      const created = batch.filter((_, index) => outcomes[index]?.kind === "created").map(({ task }) => task);
      if (created.length > 0) dependencies.begin(created.map(({ id }) => id));
      for (const { accountId } of created) dependencies.onCreated?.(accountId);
      return outcomes;
    },
    createFullError: () => new AppError("overloaded", "Too many tasks are being submitted. Retry shortly."),
    judge: (failure) => (failure instanceof Error && isDatabaseUnavailable(failure) ? failure : "alone"),
  });
}

async function writeTraced(
  dependencies: SubmissionDependencies,
  batch: readonly Submission[],
): Promise<SubmissionOutcome[]> {
  const { database, tracing = null } = dependencies;
  const spans = tracing === null ? [] : batch.map((submission) => submission.span ?? null);
  const attributes = { "db.system.name": "postgresql", "db.operation.batch.size": batch.length };
  const span = tracing?.share("task commit", spans, { kind: "client", attributes }) ?? null;
  try {
    const outcomes = await database.transaction().execute((tx) => writeBatch(dependencies, tx, batch));
    span?.end();
    return outcomes;
  } catch (error) {
    span?.end(toSpanFailure(error));
    throw error;
  }
}

/** Lock order: keys, orders, counts, wallets. */
async function writeBatch(
  dependencies: SubmissionDependencies,
  tx: Database,
  batch: readonly Submission[],
): Promise<SubmissionOutcome[]> {
  const now = dependencies.clock.now();
  const outcomes = new Map<Submission, SubmissionOutcome>();
  const claimed = await claimKeys(dependencies, tx, batch, now);
  const free = batch.filter((submission) => submission.keyed === null || claimed.has(submission));
  const ordered = await takeOrders(tx, free, outcomes);
  const admitted = await admitWithinLimits(tx, ordered, outcomes);
  const held = await holdMoney(dependencies, tx, { admitted, now, outcomes });
  if (held.length > 0) {
    const tasks = held.map(({ task }) => task);
    await changeCounts(tx, countOwners(held));
    await insertTasks(tx, tasks, now);
  }
  for (const submission of held) outcomes.set(submission, { kind: "created" });
  const unused = free.filter((submission) => outcomes.get(submission)?.kind !== "created");
  await withdrawClaims(tx, unused.flatMap(toClaims));
  const isOrdered = (submission: Submission): boolean =>
    submission.order !== null && isRefused(outcomes.get(submission));
  await withdrawOrders(tx, unused.filter(isOrdered).flatMap(toOrders));
  shareRefusals(batch, outcomes);
  return batch.map((submission) => outcomes.get(submission) ?? { kind: "key-taken" });
}

function toClaims(submission: Submission) {
  const { keyed, caller, task } = submission;
  if (keyed === null) return [];
  const answer = { status: 202, contentType: keptTaskType, body: Buffer.from(task.id), summary: `It is ${task.id}.` };
  return [{ ...keyed, submission, accountId: caller.accountId, requestId: task.requestId, answer }];
}

async function claimKeys(
  { keyValidityMs }: SubmissionDependencies,
  tx: Database,
  batch: readonly Submission[],
  now: Date,
): Promise<Set<Submission>> {
  const granted = await claimWithAnswers(tx, batch.flatMap(toClaims), { now, validityMs: keyValidityMs });
  return new Set([...granted].map(({ submission }) => submission));
}

/** Returns the submissions whose order is free; of several in the batch with the same order, the first. */
async function takeOrders(
  tx: Database,
  batch: readonly Submission[],
  outcomes: Map<Submission, SubmissionOutcome>,
): Promise<Submission[]> {
  const firsts = new Map(batch.toReversed().map((submission) => [nameOrder(submission), submission]));
  firsts.delete(null);
  if (firsts.size === 0) return [...batch];
  const granted = await claimOrders(tx, [...firsts.values()].flatMap(toOrders));
  return batch.filter((submission) => {
    const isFree = submission.order === null || granted.has(submission.task.id);
    if (!isFree) outcomes.set(submission, { kind: "order-taken" });
    return isFree;
  });
}

function nameOrder({ order, caller }: Submission): string | null {
  return order === null ? null : JSON.stringify([caller.accountId, order.clientBusinessId, order.scope]);
}

function toOrders({ order, caller, task }: Submission): OwnedOrder[] {
  return order === null ? [] : [{ ...order, accountId: caller.accountId, taskId: task.id }];
}

function isRefused(outcome: SubmissionOutcome | undefined): boolean {
  return outcome?.kind === "refused" || outcome?.kind === "full";
}

/** A duplicate within the batch is rejected with the submission it duplicates. */
function shareRefusals(batch: readonly Submission[], outcomes: Map<Submission, SubmissionOutcome>): void {
  const name = (submission: Submission): string =>
    `${nameOrder(submission)} ${submission.order?.fingerprint.toString("hex")}`;
  const refusals = new Map<string, SubmissionOutcome>();
  for (const [submission, outcome] of outcomes) {
    if (submission.order !== null && isRefused(outcome)) refusals.set(name(submission), outcome);
  }
  for (const submission of batch) {
    const refusal = refusals.get(name(submission));
    if (refusal !== undefined && outcomes.get(submission)?.kind === "order-taken") outcomes.set(submission, refusal);
  }
}

/** Returns the submissions within the account's and key's limits, counting earlier ones of the batch. */
async function admitWithinLimits(
  tx: Database,
  batch: readonly Submission[],
  outcomes: Map<Submission, SubmissionOutcome>,
): Promise<Submission[]> {
  if (batch.length === 0) return [];
  const counts = await lockCounts(
    tx,
    batch.flatMap(({ caller }) => [caller.accountId, caller.keyId]),
  );
  return batch.filter((submission) => {
    const { caller } = submission;
    const owners = [
      { id: caller.accountId, owner: "account" as const, max: caller.accountLimits.tasksInFlight },
      { id: caller.keyId, owner: "API key" as const, max: caller.keyLimits.tasksInFlight ?? Number.POSITIVE_INFINITY },
    ];
    const full = owners.find(({ id, max }) => (counts.get(id) ?? 0) >= max);
    if (full !== undefined) {
      outcomes.set(submission, { kind: "full", limit: { owner: full.owner, max: full.max } });
      return false;
    }
    for (const { id } of owners) counts.set(id, (counts.get(id) ?? 0) + 1);
    return true;
  });
}

async function holdMoney(
  texts: SubmissionDependencies,
  tx: Database,
  { admitted, now, outcomes }: { admitted: Submission[]; now: Date; outcomes: Map<Submission, SubmissionOutcome> },
): Promise<Submission[]> {
  const paid = admitted.filter(({ held }) => held !== null);
  if (paid.length === 0) return admitted;
  const results = await openHolds(
    tx,
    paid.map((submission) => describeHold(submission)),
    now,
  );
  const refused = new Set<Submission>();
  for (const [index, result] of results.entries()) {
    const submission = paid[index];
    invariant(submission !== undefined && submission.held !== null, "the ledger returned more results than holds");
    if (result.kind === "held") continue;
    refused.add(submission);
    outcomes.set(submission, {
      kind: "refused",
      error: explainRefusedHold(result, { ...texts, held: submission.held }),
    });
  }
  return admitted.filter((submission) => !refused.has(submission));
}

function describeHold({ task, caller, held }: Submission) {
  invariant(held !== null && task.holdId !== null, "a free task holds nothing");
  const { quota } = task.terms;
  return {
    id: task.holdId satisfies HoldId,
    accountId: caller.accountId,
    amount: held,
    quota: { kind: quota.kind, units: quota.unitsMax },
    keyId: caller.keyId,
    budget: caller.budget,
    cause: { kind: "task", id: task.id } as const,
    expiresAt: new Date(task.deadlineAt.getTime() + holdMarginMs),
  };
}

function countOwners(submissions: readonly Submission[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { caller } of submissions) {
    for (const id of [caller.accountId, caller.keyId]) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}
