import type { Caller } from "../../../lib/caller.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Coalescer } from "../../../lib/coalescer.ts";
import type { IdSource } from "../../../lib/ids.ts";
import { invariant } from "../../../lib/invariant.ts";
import type { Database } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { SeenLimits } from "../../../platform/http/request-context.ts";
import type { Span } from "../../../platform/tracing/span.ts";
import { toSpanFailure } from "../../../platform/tracing/to-span-failure.ts";
import { getOfferedModel, type LiveCatalog, type OfferedModel, presentDeprecation } from "../../catalog/index.ts";
import { type ClaimTerms, claimKey, fingerprintRequest, freeKey, recallAnswer } from "../../idempotency/index.ts";
import { checkWebhookUrl } from "../../webhooks/index.ts";
import { priceTask } from "../quote-task.ts";
import { isFinal, type NewTask, type Task } from "../task.ts";
import { deadlineTable } from "../task-deadline.ts";
import { findTask, toQueuedTask } from "../task-store.ts";
import type { TaskFailpoint } from "../work/task-failpoints.ts";
import type { CommonBody } from "./generation-schema.ts";
import { findOrder, findSameOrder, type TaskOrder } from "./order-store.ts";
import { createFullError } from "./refuse-full.ts";
import { keptTaskType, type Submission, type SubmissionOutcome } from "./write-submissions.ts";

export type CreateDependencies = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  catalog: LiveCatalog;
  failpoint(name: TaskFailpoint): void;
  writer: Coalescer<Submission, SubmissionOutcome>;
  claims: ClaimTerms;
  /** Whether callbacks may go to this machine and its neighbours. */
  allowsPrivate: boolean;
};

/** A submission as it comes from the edge. */
export type IncomingTask<B extends CommonBody = CommonBody> = {
  caller: Caller;
  body: B;
  requestId: string;
  clientRequestId: string | null;
  /** For one that may be sent again: its key, and what makes it the same request. */
  keyed: { key: string; path: string; rawBody: Buffer } | null;
  /** For one that does a piece of business of its caller: what that is called, and what makes it the same request. */
  order: Omit<TaskOrder, "scope"> | null;
  prepare: PrepareTask<B>;
  /** What was seen of the caller's limits so far. */
  seen: SeenLimits | null;
  /** Of the request, where that is traced. */
  span: Span | null;
};

/** What is to be made, found good: what it starts from, what it is made of, and what it may cost. */
type PreparedTask = Pick<NewTask, "request" | "inputs" | "steps" | "terms"> & {
  outputCount: number;
  /** What a piece of business is unique within. */
  orderScope: string;
};

/** Throws what is wrong with a request. */
export type PrepareTask<B extends CommonBody> = (asked: {
  body: B;
  caller: Caller;
  offered: OfferedModel;
}) => Promise<PreparedTask>;

export type CreatedTask = { task: Task; isReplay: boolean; headers: Record<string, string> };

const attemptsMax = 3;

/** Makes a task, or finds the one that the same request made before. */
export async function createTask<B extends CommonBody>(
  dependencies: CreateDependencies,
  incoming: IncomingTask<B>,
): Promise<CreatedTask> {
  // Whatever is done for the task, by whichever node, belongs to this span.
  const span = incoming.span?.start("create task", { kind: "producer" }) ?? null;
  try {
    const created = await createOrFind(dependencies, { ...incoming, span });
    span?.set({ "sluice.task.id": created.task.id, "gen_ai.request.model": created.task.model });
    span?.set({ "sluice.replayed": created.isReplay ? true : undefined });
    span?.end();
    return created;
  } catch (error) {
    span?.end(toSpanFailure(error));
    throw error;
  }
}

async function createOrFind<B extends CommonBody>(
  dependencies: CreateDependencies,
  incoming: IncomingTask<B>,
): Promise<CreatedTask> {
  const keyed = readKey(incoming);
  const prepared = await prepareOrRecall(dependencies, incoming, keyed);
  if ("task" in prepared) return prepared;
  const { submission, headers } = prepared;
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const outcome = await dependencies.writer.submit(submission);
    if (outcome.kind === "refused") throw outcome.error;
    if (outcome.kind === "full") throw await createFullError(dependencies, { ...incoming, limit: outcome.limit });
    if (outcome.kind === "created") {
      dependencies.failpoint("submission-written");
      return { task: toQueuedTask(submission.task), isReplay: false, headers };
    }
    if (outcome.kind === "order-taken") {
      const first = await recallOrder(dependencies, submission);
      if (first !== null) return first;
      continue;
    }
    const first = await recallTask(dependencies, incoming.caller, keyed);
    if (first !== null) return first;
    await clearDeadClaim(dependencies, submission);
  }
  const param = keyed === null ? "client_business_id" : "Idempotency-Key";
  throw new AppError("idempotency_in_progress", `The first request with this ${param} is still running.`, { param });
}

/**
 * What was done is done, whatever the catalog says today: a repetition that would be refused now gets what the first one
 * made. One that is still good meets its key when it is written, so that nobody else has to be asked for it.
 */
async function prepareOrRecall<B extends CommonBody>(
  dependencies: CreateDependencies,
  incoming: IncomingTask<B>,
  keyed: Keyed,
): Promise<CreatedTask | { submission: Submission; headers: Record<string, string> }> {
  try {
    return await prepareSubmission(dependencies, incoming, keyed);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const known =
      (await recallTask(dependencies, incoming.caller, keyed)) ?? (await recallSameOrder(dependencies, incoming));
    if (known !== null) return known;
    throw error;
  }
}

type Keyed = { key: string; fingerprint: Buffer } | null;

function readKey({ keyed }: Pick<IncomingTask, "keyed">): Keyed {
  if (keyed === null) return null;
  const { key, path, rawBody } = keyed;
  return { key, fingerprint: fingerprintRequest(path, rawBody) };
}

async function recallTask(
  dependencies: CreateDependencies,
  { accountId }: Caller,
  keyed: Keyed,
): Promise<CreatedTask | null> {
  if (keyed === null) return null;
  const answer = await recallAnswer(dependencies, { accountId, ...keyed });
  if (answer === null) return null;
  invariant(answer.contentType === keptTaskType && answer.body !== null, "a key of another endpoint has this request");
  const task = await findTask(dependencies.database, answer.body.toString());
  if (task === null) throw createGoneError(answer.body.toString(), "Idempotency-Key");
  return { task, isReplay: true, headers: {} };
}

/** The task that the same piece of business made before; `null` where that has come to nothing meanwhile. */
async function recallOrder(
  dependencies: CreateDependencies,
  { caller, order }: Submission,
): Promise<CreatedTask | null> {
  invariant(order !== null, "a submission without an order found it taken");
  const first = await findOrder(dependencies.database, { ...order, accountId: caller.accountId });
  if (first === null) return null;
  if (!first.fingerprint.equals(order.fingerprint)) {
    const message = `Another request had this client_business_id: ${first.taskId}. A changed request needs an id of its own.`;
    throw new AppError("idempotency_key_reused", message, { param: "client_business_id" });
  }
  const task = await findTask(dependencies.database, first.taskId);
  if (task === null) throw createGoneError(first.taskId, "client_business_id");
  return { task, isReplay: true, headers: {} };
}

/** It is not made and charged a second time for having been forgotten. */
function createGoneError(taskId: string, param: string): AppError {
  const message = `The first request with this ${param} made ${taskId}, which is no longer kept. A new one needs a new ${param}.`;
  return new AppError("idempotency_key_reused", message, { param });
}

/** The task of the very same request, unless it came to nothing. */
async function recallSameOrder(
  { database }: CreateDependencies,
  { caller, order }: Pick<IncomingTask, "caller" | "order">,
): Promise<CreatedTask | null> {
  const taskId = order === null ? null : await findSameOrder(database, { ...order, accountId: caller.accountId });
  const task = taskId === null ? null : await findTask(database, taskId);
  const isVain = task === null || (isFinal(task.state) && task.state !== "succeeded");
  return isVain ? null : { task, isReplay: true, headers: {} };
}

/** A claim of another kind whose process died is claimed anew, which also ends its hold; then it is free. */
async function clearDeadClaim(
  { database, clock, claims }: CreateDependencies,
  { task, keyed, caller }: Submission,
): Promise<void> {
  if (keyed === null) return;
  const claim = { accountId: caller.accountId, key: keyed.key, requestId: task.requestId };
  const outcome = await claimKey({ database, clock, ...claims }, { ...claim, ...keyed, holdId: null });
  if (outcome.kind === "claimed") await freeKey(database, claim);
}

/** Everything about a submission that can be known before it is written. Throws what is wrong with it. */
async function prepareSubmission<B extends CommonBody>(
  dependencies: CreateDependencies,
  incoming: IncomingTask<B>,
  keyed: Keyed,
): Promise<{ submission: Submission; headers: Record<string, string> }> {
  const { caller, body } = incoming;
  const now = dependencies.clock.now();
  const view = dependencies.catalog.current();
  const offered = getOfferedModel(view, body.model, caller, now);
  if (body.callback_url !== undefined) {
    checkWebhookUrl(body.callback_url, { param: "callback_url", allowsPrivate: dependencies.allowsPrivate });
  }
  const { request, inputs, steps, terms, outputCount, orderScope } = await incoming.prepare({ body, caller, offered });
  const held = priceTask(terms);
  const type = request.type;
  const lifeMs = (body.expires_after ?? deadlineTable[type].secondsUsual) * 1000;
  const task: NewTask = {
    id: dependencies.ids.next("task"),
    accountId: caller.accountId,
    keyId: caller.keyId,
    parentId: null,
    type,
    model: offered.model.id,
    request,
    inputs,
    steps,
    terms,
    holdId: held === 0n ? null : dependencies.ids.next("hold"),
    outputIds: Array.from({ length: outputCount }, () => dependencies.ids.next("file")),
    metadata: body.metadata ?? null,
    callbackUrl: body.callback_url ?? null,
    requestId: incoming.requestId,
    clientRequestId: incoming.clientRequestId,
    traceparent: incoming.span?.traceparent ?? null,
    deadlineAt: new Date(now.getTime() + lifeMs),
    createdAt: now,
  };
  const order = incoming.order === null ? null : { ...incoming.order, scope: orderScope };
  const submission = { task, caller, held: held === 0n ? null : held, keyed, order, span: incoming.span };
  return { submission, headers: presentDeprecation(offered) };
}
