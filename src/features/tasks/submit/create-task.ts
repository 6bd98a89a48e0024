import type { Caller } from "../../../lib/caller.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Coalescer } from "../../../lib/coalescer.ts";
import type { IdSource } from "../../../lib/ids.ts";
import { invariant } from "../../../lib/invariant.ts";
import { weighTokens } from "../../../lib/quota-weights.ts";
import type { Database } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { SeenLimits } from "../../../platform/http/request-context.ts";
import type { Span } from "../../../platform/tracing/span.ts";
import { toSpanFailure } from "../../../platform/tracing/to-span-failure.ts";
import { getOfferedModel, type LiveCatalog, type OfferedModel, presentDeprecation } from "../../catalog/index.ts";
import type { Files } from "../../files/index.ts";
import { type ClaimTerms, claimKey, fingerprintRequest, freeKey, recallAnswer } from "../../idempotency/index.ts";
import type { OpenedQuote, QuotedTerms, Quotes } from "../../quotes/index.ts";
import { checkWebhookUrl } from "../../webhooks/index.ts";
import { countUnitsMax, priceTask } from "../quote-task.ts";
import type { TaskWatch } from "../read/watch-tasks.ts";
import { isFinal, type NewTask, type Task, type TaskTerms } from "../task.ts";
import { deadlineTable } from "../task-deadline.ts";
import type { TaskFailpoint } from "../task-failpoints.ts";
import { findTask, toQueuedTask } from "../task-store.ts";
import type { CommonBody } from "./generation-schema.ts";
import { findOrder, findSameOrder, type TaskOrder } from "./order-store.ts";
import { createFullError } from "./refuse-full.ts";
import { keptTaskType, type Submission, type SubmissionOutcome } from "./write-submissions.ts";

export type SubmitDependencies = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  catalog: LiveCatalog;
  failpoint(name: TaskFailpoint): void;
  writer: Coalescer<Submission, SubmissionOutcome>;
  claims: ClaimTerms;
  /** Whether callbacks may go to private and loopback addresses. */
  allowsPrivate: boolean;
  watch: TaskWatch;
  quotes: Pick<Quotes, "open">;
  files: Pick<Files, "getFile" | "openFile" | "signLink">;
  baseUrl: string;
};

/** A submission as parsed from its HTTP request. */
export type IncomingTask<B extends CommonBody = CommonBody> = {
  caller: Caller;
  body: B;
  requestId: string;
  clientRequestId: string | null;
  /** The idempotency key and what its fingerprint covers; `null` without a key. */
  keyed: { key: string; path: string; rawBody: Buffer } | null;
  /** The `client_business_id` and its fingerprint; `null` without one. */
  order: Omit<TaskOrder, "scope"> | null;
  prepare: PrepareTask<B>;
  findModel: FindModel | null;
  /** The quote that the request names, and its path. */
  quoted: { id: string; path: string } | null;
  /** The caller's rate-limit state so far. */
  seen: SeenLimits | null;
  /** The request's span; `null` if it is not traced. */
  span: Span | null;
};

/** A validated submission: inputs, steps and maximum cost. */
type PreparedTask = Pick<NewTask, "request" | "inputs" | "steps" | "terms"> & {
  outputCount: number;
  /** The terms to expect, if not the most, and the seconds of the video that they assume. */
  likely?: { terms: TaskTerms; seconds: number };
  /** The scope within which a `client_business_id` is unique. */
  orderScope: string;
};

/** For requests without a `model`, such as those about an earlier task. Throws if there is no such task. */
export type FindModel = (caller: Caller) => Promise<string>;

/** Throws if the request is invalid. */
export type PrepareTask<B extends CommonBody> = (asked: {
  body: B;
  caller: Caller;
  offered: OfferedModel;
}) => Promise<PreparedTask>;

export type CreatedTask = { task: Task; isReplay: boolean; headers: Record<string, string> };

const attemptsMax = 3;

/** Creates a task, or returns the one that the same request created before. */
export async function createTask<B extends CommonBody>(
  dependencies: SubmitDependencies,
  incoming: IncomingTask<B>,
): Promise<CreatedTask> {
  // Parent of everything that any node does for the task.
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
  dependencies: SubmitDependencies,
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
 * An idempotent replay succeeds even if the request would be rejected today, for example because the catalog has
 * changed. A valid replay is found by its key at write time, without an extra query.
 */
async function prepareOrRecall<B extends CommonBody>(
  dependencies: SubmitDependencies,
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
  dependencies: SubmitDependencies,
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

/** The task created earlier under the same `client_business_id`; `null` if that task has failed meanwhile. */
async function recallOrder(
  dependencies: SubmitDependencies,
  { caller, order }: Submission,
): Promise<CreatedTask | null> {
  invariant(order !== null, "a submission without an order found it taken");
  const first = await findOrder(dependencies.database, { ...order, accountId: caller.accountId });
  if (first === null) return null;
  if (!first.fingerprint.equals(order.fingerprint)) {
    const message = `Another request used this client_business_id: ${first.taskId}. Use a new id for a changed request.`;
    throw new AppError("idempotency_key_reused", message, { param: "client_business_id" });
  }
  const task = await findTask(dependencies.database, first.taskId);
  if (task === null) throw createGoneError(first.taskId, "client_business_id");
  return { task, isReplay: true, headers: {} };
}

/** A deleted task is not created and charged a second time. */
function createGoneError(taskId: string, param: string): AppError {
  const message = `The first request with this ${param} created ${taskId}, which has been deleted. Use a new ${param}.`;
  return new AppError("idempotency_key_reused", message, { param });
}

/** The task of an identical request, unless it failed. */
async function recallSameOrder(
  { database }: SubmitDependencies,
  { caller, order }: Pick<IncomingTask, "caller" | "order">,
): Promise<CreatedTask | null> {
  const taskId = order === null ? null : await findSameOrder(database, { ...order, accountId: caller.accountId });
  const task = taskId === null ? null : await findTask(database, taskId);
  const isVain = task === null || (isFinal(task.state) && task.state !== "succeeded");
  return isVain ? null : { task, isReplay: true, headers: {} };
}

/** Reclaims a key whose process died, which also ends its hold, and then frees it. */
async function clearDeadClaim(
  { database, clock, claims }: SubmitDependencies,
  { task, keyed, caller }: Submission,
): Promise<void> {
  if (keyed === null) return;
  const claim = { accountId: caller.accountId, key: keyed.key, requestId: task.requestId };
  const outcome = await claimKey({ database, clock, ...claims }, { ...claim, ...keyed, holdId: null });
  if (outcome.kind === "claimed") await freeKey(database, claim);
}

type PlannedTask<B extends CommonBody> = Pick<IncomingTask<B>, "caller" | "body" | "prepare" | "findModel">;

/** Validates a request and prices its task. Throws if the request is invalid. */
async function planTask<B extends CommonBody>(
  { clock, catalog, allowsPrivate }: Pick<SubmitDependencies, "clock" | "catalog" | "allowsPrivate">,
  { caller, body, prepare, findModel }: PlannedTask<B>,
): Promise<{ offered: OfferedModel; prepared: PreparedTask }> {
  const now = clock.now();
  const view = catalog.current();
  const modelId = findModel === null ? body.model : await findModel(caller);
  invariant(modelId !== undefined, "a request names its model");
  const offered = getOfferedModel(view, modelId, caller, now);
  if (body.callback_url !== undefined) checkWebhookUrl(body.callback_url, { param: "callback_url", allowsPrivate });
  const prepared = await prepare({ body, caller, offered });
  return { offered, prepared: { ...prepared, terms: weighTask(prepared.terms, caller, offered.model.id) } };
}

/** Speech is paid by the quota for text, in which tokens have weights. */
function weighTask(terms: TaskTerms, { quotaWeights = null }: Caller, modelId: string): TaskTerms {
  const { kind, unitsMax: input } = terms.quota;
  if (quotaWeights === null || kind !== "text") return terms;
  return { ...terms, quota: { kind, unitsMax: weighTokens(quotaWeights, modelId, { input, cached: 0, output: 0 }) } };
}

/** What the quote of a task promises: its hold. */
export async function quoteSubmission<B extends CommonBody>(
  dependencies: Parameters<typeof planTask>[0],
  asked: PlannedTask<B>,
): Promise<QuotedTerms> {
  const { offered, prepared } = await planTask(dependencies, asked);
  const { terms, likely } = prepared;
  const { kind, unitsMax } = terms.quota;
  return {
    ...{ modelId: offered.model.id, most: priceTask(terms), units: countUnitsMax(terms) },
    quota: { kind, units: unitsMax },
    estimate:
      likely === undefined
        ? { charge: priceTask(terms), basis: "exact_price" }
        : { charge: priceTask(likely.terms), basis: "estimated_length", seconds: likely.seconds },
  };
}

/** Terms that could cost more than was quoted keep the quote. */
function capTask(terms: TaskTerms, quote: OpenedQuote, modelId: string): TaskTerms {
  const quoted = quote.cap({ modelId, units: countUnitsMax(terms) });
  return quoted < priceTask(terms) ? { ...terms, quoted } : terms;
}

/** Prepares everything that can be known before the write. Throws if the request is invalid. */
async function prepareSubmission<B extends CommonBody>(
  dependencies: SubmitDependencies,
  incoming: IncomingTask<B>,
  keyed: Keyed,
): Promise<{ submission: Submission; headers: Record<string, string> }> {
  const { caller, body, quoted } = incoming;
  const now = dependencies.clock.now();
  const { accountId } = caller;
  const quote = quoted === null ? null : dependencies.quotes.open(quoted.id, { accountId, path: quoted.path, body });
  const { offered, prepared } = await planTask(dependencies, incoming);
  const { request, inputs, steps, outputCount, orderScope } = prepared;
  const terms = quote === null ? prepared.terms : capTask(prepared.terms, quote, offered.model.id);
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
