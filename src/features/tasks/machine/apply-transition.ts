import type { Clock } from "../../../lib/clock.ts";
import type { IdSource } from "../../../lib/ids.ts";
import { invariant } from "../../../lib/invariant.ts";
import { type Nano, nano } from "../../../lib/money.ts";
import type { Semaphore } from "../../../lib/semaphore.ts";
import { itemizeCost, type UpstreamCost } from "../../../lib/upstream-cost.ts";
import { type Database, inTransaction } from "../../../platform/database/database.ts";
import type { Logger } from "../../../platform/observability/logger.ts";
import { toMetricAmount } from "../../../platform/observability/metric-amount.ts";
import type { Metrics } from "../../../platform/observability/metrics.ts";
import { insertUnchargedCosts } from "../../costs/index.ts";
import { releaseOutputs } from "../../files/index.ts";
import { releaseHold, settleHold } from "../../ledger/index.ts";
import { recordEvent } from "../../webhooks/index.ts";
import { changeCounts, lockCounts } from "../count-store.ts";
import {
  cancelChildren,
  deleteLease,
  listChildOutputs,
  lockLease,
  revokeLease,
  updateLease,
  wakeWaitingTasks,
} from "../lease-store.ts";
import { changeTask } from "../parse-task.ts";
import { describeEvent } from "../present-task.ts";
import { nothing } from "../quote-task.ts";
import {
  type ClaimedTask,
  isFinal,
  type LeaseChange,
  type NewChild,
  type NewTask,
  type Task,
  type TaskOutput,
  type UnitTerms,
} from "../task.ts";
import type { TaskFailpoint } from "../task-failpoints.ts";
import { countWaitingFor, lockStarts, postponeStarts, readPlaceUse } from "../task-limit-store.ts";
import { advanceRate, countRoom } from "../task-limits.ts";
import { findTask, insertTasks, updateClaimedTask, updateTask } from "../task-store.ts";
import type { Money, Transition } from "./task-machine.ts";

type TaskMetrics = Pick<
  Metrics,
  "taskDuration" | "charges" | "chargedAmount" | "lostAmount" | "upstreamCost" | "unchargedWork"
>;

/** The settlement of an ended task. */
type Settlement =
  /** No charge: no output, a free task, or the parent pays. */
  | { kind: "none" }
  /** `lost`: the part the account could not pay. */
  | { kind: "charged"; lost: Nano }
  /** The caller has the output, but the hold had already ended. */
  | { kind: "uncharged" };

export type TransitionDependencies = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  logger: Logger;
  metrics: TaskMetrics;
  watch: { announce(task: Task): void };
  /** Limits how many tasks end concurrently: those of one account wait for each other, each holding a connection. */
  endings: Pick<Semaphore, "run">;
  /** Makes a worker poll for due tasks at once. */
  wakeWorkers(): void;
  failpoint(name: TaskFailpoint): void;
  /** What the upstream charges for the outputs; `null` if that is unknown. Absent where tasks end without any. */
  findCost?(task: Task, output: readonly TaskOutput[]): UpstreamCost | null;
};

/** A committed transition, with the task after it. */
export type Applied<T extends Task = Task> = {
  task: T;
  transition: Transition;
  settlement: Settlement;
  cost: UpstreamCost | null;
};

const noSettlement: Settlement = { kind: "none" };

/**
 * Writes a transition of a claimed task: state, money, event, children and wake-up in one transaction.
 * Returns `null` if the lease was lost.
 */
export async function applyTransition(
  dependencies: TransitionDependencies,
  task: ClaimedTask,
  transition: Transition,
): Promise<Applied<ClaimedTask> | null> {
  const { database, endings } = dependencies;
  const { fencingToken, abandonedAt } = task;
  const { lease, end, admission, children } = transition;
  const isOneStatement = lease.kind !== "end" && admission === null && children.length === 0;
  if (isOneStatement) {
    const now = dependencies.clock.now();
    // Validate before writing: a change that leads to an impossible task fails here.
    const changed = changeTask(task, transition.change);
    const version = await updateClaimedTask(database, task, { ...transition, lease, now });
    if (version === null) return null;
    const written = { ...changed, fencingToken, abandonedAt, version, updatedAt: now };
    const applied = { transition, task: written, settlement: noSettlement, cost: null };
    await afterCommit(dependencies, applied);
    return applied;
  }
  const run = (): Promise<Applied | null> =>
    inTransaction(database, async (tx) => {
      if (!(await lockLease(tx, task))) return null;
      return await writeTransition(dependencies, tx, task, await admit(tx, task, transition, dependencies.clock.now()));
    });
  const applied = await (end === null ? run() : endings.run(run));
  if (applied === null) return null;
  await afterCommit(dependencies, applied);
  return { ...applied, task: { ...applied.task, fencingToken, abandonedAt } };
}

/** Starts the task at the provider if that has room. Tasks that already wait for the provider come before new ones. */
async function admit(tx: Database, { waitsFor }: Task, transition: Transition, now: Date): Promise<Transition> {
  if (transition.admission === null) return transition;
  const { providerId, limits, whenFull } = transition.admission;
  await lockStarts(tx, providerId);
  const use = await readPlaceUse(tx, providerId, limits);
  const room = countRoom(limits, use, now);
  const isNext = room > 0 && (waitsFor === providerId || (await countWaitingFor(tx, providerId, room)) < room);
  if (!isNext) return whenFull;
  const nextAt = advanceRate(limits, use, now);
  if (nextAt !== null) await postponeStarts(tx, limits.place, nextAt);
  return transition;
}

/** Writes a transition of a task whose lease is locked. Lock order: counts, then wallets. */
export async function writeTransition(
  dependencies: TransitionDependencies,
  tx: Database,
  task: Task,
  transition: Transition,
): Promise<Applied> {
  const now = dependencies.clock.now();
  const { isVisible, lease, end, children } = transition;
  const owners = [task.accountId, task.keyId];
  const isCounted = end !== null && task.parentId === null;
  if (isCounted) await lockCounts(tx, owners);
  const cost = end === null ? null : findCost(dependencies, task, transition.change.output ?? []);
  const settled = end === null ? null : await settle(dependencies, tx, task, { money: end.money, cost, now });
  const change = { ...transition.change, ...settled?.change };
  const changed = changeTask(task, change);
  const version = await updateTask(tx, task.id, { change, isVisible, now });
  await writeLease(tx, task, lease, now);
  if (end !== null && task.parentId === null) await releasePaid(tx, changed);
  if (end?.cancelsChildren === true) await cancelChildren(tx, task.id, now);
  if (isCounted) await changeCounts(tx, new Map(owners.map((owner) => [owner, -1])));
  if (children.length > 0) {
    const described = children.map((child) => describeChild(task, child, { ids: dependencies.ids, now }));
    await insertTasks(tx, described, now);
  }
  const written = { ...changed, version, updatedAt: now };
  if (end !== null && end.event !== null) {
    const { accountId, callbackUrl } = task;
    const event = {
      id: dependencies.ids.next("evt"),
      accountId,
      type: end.event,
      createdAt: change.finishedAt ?? now,
      callbackUrl,
      traceparent: task.traceparent,
    };
    await recordEvent(tx, { ...event, data: describeEvent(written) }, dependencies);
  }
  if (end !== null) dependencies.failpoint("finish-written");
  return { task: written, transition, settlement: settled?.settlement ?? noSettlement, cost };
}

/** A fault here must not keep a task from ending. */
function findCost(
  { findCost, logger }: TransitionDependencies,
  task: Task,
  output: readonly TaskOutput[],
): UpstreamCost | null {
  try {
    return findCost?.(task, output) ?? null;
  } catch (error) {
    logger.error({ task_id: task.id, model: task.model, error }, "upstream cost of a task not computed");
    return null;
  }
}

/** A child belongs to its parent's account and key, shares its deadline, and is paid by it. */
function describeChild(parent: Task, child: NewChild, { ids, now }: { ids: IdSource; now: Date }): NewTask {
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
    outputIds: Array.from({ length: count }, () => ids.next("file")),
    metadata: null,
    callbackUrl: null,
    requestId: parent.requestId,
    clientRequestId: parent.clientRequestId,
    traceparent: parent.traceparent,
    deadlineAt: parent.deadlineAt,
    createdAt: now,
  };
}

const paidByParent: UnitTerms = {
  priceId: "parent",
  rate: nothing,
  per: 1n,
  minimum: nothing,
  counts: "calls",
  unitsMax: 0n,
  extras: [],
  quota: { kind: "video", unitsMax: 0n },
  budgetAmount: null,
};

/** Lists charged files with the account's files: the outputs, and all material of a successful composite task. */
async function releasePaid(tx: Database, { id, type, state, output }: Task): Promise<void> {
  const material = type === "drama" && state === "succeeded" ? await listChildOutputs(tx, id) : [];
  await releaseOutputs(tx, [...output.map(({ fileId }) => fileId), ...material]);
}

async function writeLease(tx: Database, { id }: Task, lease: LeaseChange, now: Date): Promise<void> {
  switch (lease.kind) {
    case "keep":
      return;
    case "due":
      return await updateLease(tx, id, { dueAt: lease.at, now });
    case "revoke":
      return await revokeLease(tx, id, lease.at);
    case "end":
      return await deleteLease(tx, id);
  }
}

type Due = { money: Money; cost: UpstreamCost | null; now: Date };
type Settled = { change: { charge: Nano; units: bigint }; settlement: Settlement };

async function settle(
  dependencies: TransitionDependencies,
  tx: Database,
  task: Task,
  { money, cost, now }: Due,
): Promise<Settled> {
  const { accountId, holdId } = task;
  const { units } = money;
  const free = { charge: nothing, units };
  if (holdId !== null && money.kind === "settle") return await settleBill(dependencies, tx, task, { money, cost, now });
  await writeUnchargedCost(tx, task, cost, now);
  if (holdId !== null && money.kind === "release") await releaseHold(tx, { accountId, holdId }, now);
  return { change: free, settlement: noSettlement };
}

async function settleBill(
  { logger }: TransitionDependencies,
  tx: Database,
  task: Task,
  { money, cost, now }: Due & { money: Extract<Money, { kind: "settle" }> },
): Promise<Settled> {
  const { id, accountId, holdId } = task;
  invariant(holdId !== null, `${id} is charged without a hold`);
  const { units, budgetAmount } = money;
  const bill = cost === null ? money.bill : { ...money.bill, items: [...money.bill.items, ...itemizeCost(cost)] };
  const result = await settleHold(tx, { accountId, holdId, bill, overrun: "take-available", budgetAmount }, now);
  if (result.kind !== "settled") {
    // The work is done and the caller gets it; the operator finds out why the hold was gone.
    logger.error(
      { task_id: id, account_id: accountId, hold_id: holdId, result: result.kind },
      "finished task not charged",
    );
    await writeUnchargedCost(tx, task, cost, now);
    return { change: { charge: nothing, units: 0n }, settlement: { kind: "uncharged" } };
  }
  return result.unit === "money"
    ? { change: { charge: nano(result.paid), units }, settlement: { kind: "charged", lost: nano(result.lost) } }
    : { change: { charge: nothing, units }, settlement: { kind: "charged", lost: nothing } };
}

/** A part of a drama costs its drama. */
async function writeUnchargedCost(tx: Database, task: Task, cost: UpstreamCost | null, createdAt: Date): Promise<void> {
  if (cost === null) return;
  const { id, accountId, parentId, model } = task;
  const parent = parentId === null ? null : await findTask(tx, parentId);
  const row = { ...cost, id: `cost_${id}`, createdAt, accountId, modelId: parent?.model ?? model, calls: 1 };
  await insertUnchargedCosts(tx, [row]);
}

/** Sends notifications. If a crash loses them, waiting clients fall back to polling. */
export async function afterCommit(
  { database, clock, metrics, watch, wakeWorkers, failpoint }: TransitionDependencies,
  applied: Applied,
): Promise<void> {
  const { task, transition, settlement, cost } = applied;
  const { end, lease, isVisible, frees, children } = transition;
  if (end !== null) countTaskEnd(metrics, task, settlement);
  if (cost !== null) {
    const payer = task.charge > 0n ? "balance" : "other";
    metrics.upstreamCost.at(task.model, cost.providerId, payer).add(toMetricAmount(cost.amount));
  }
  const reached = nameFailpoint(transition);
  if (reached !== null) failpoint(reached);
  if (isVisible) watch.announce(task);
  const now = clock.now();
  // Outside the transaction, whose locks are taken in a different order.
  const isFreed = frees !== null && (await wakeWaitingTasks(database, frees, { count: 1, now }));
  const isDue = (lease.kind === "due" || lease.kind === "revoke") && lease.at <= now;
  if (isFreed || isDue || children.length > 0 || end?.cancelsChildren === true) wakeWorkers();
}

function countTaskEnd(metrics: TaskMetrics, task: Task, settlement: Settlement): void {
  const { state, type, model, createdAt, finishedAt, updatedAt, charge } = task;
  if (isFinal(state)) {
    const endedAt = finishedAt ?? updatedAt;
    metrics.taskDuration.at(type, state).add((endedAt.getTime() - createdAt.getTime()) / 1000);
  }
  if (settlement.kind === "uncharged") metrics.unchargedWork.at("task").add(1);
  if (settlement.kind !== "charged") return;
  metrics.charges.at(model).add(1);
  metrics.chargedAmount.at(model).add(toMetricAmount(charge));
  metrics.lostAmount.at(model).add(toMetricAmount(settlement.lost));
}

function nameFailpoint({ change, end }: Transition): TaskFailpoint | null {
  if (end !== null) return "finished";
  if (change.steps !== undefined) return "steps-written";
  if (change.phase === "submitting") return "target-written";
  return change.phase === "running" ? "handle-written" : null;
}
