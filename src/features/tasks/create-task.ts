import { hash } from "node:crypto";
import type { Batcher } from "../../lib/batcher.ts";
import type { Caller } from "../../lib/caller.ts";
import { invariant } from "../../lib/invariant.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { type Capability, getOfferedModel, type Model, type Price, presentDeprecation } from "../catalog/index.ts";
import { type ClaimParts, claimKey, freeKey, recallAnswer } from "../idempotency/index.ts";
import { checkWebhookUrl } from "../webhooks/index.ts";
import type { CheckedGeneration } from "./check-generation.ts";
import type { CommonBody } from "./generation-schema.ts";
import { priceTask, quoteTask } from "./quote-task.ts";
import type { Task, TaskType } from "./task.ts";
import type { TaskParts } from "./task-parts.ts";
import { findTask, type NewTask, toQueuedTask } from "./task-store.ts";
import { listAbleTargets, listTaskTargets } from "./task-target.ts";
import { keptTaskType, type Submission, type SubmissionOutcome } from "./write-submissions.ts";

export type CreateParts = TaskParts & {
  writer: Batcher<Submission, SubmissionOutcome>;
  claims: Pick<ClaimParts, "validityMs" | "releaseHold">;
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
  check(body: B, model: Model): CheckedGeneration;
};

export type CreatedTask = { task: Task; isReplay: boolean; headers: Record<string, string> };

const hourMs = 60 * 60 * 1000;
/** How long a task of each type may take unless its caller says otherwise. */
const deadlineMs: Record<TaskType, number> = {
  image: hourMs,
  speech: hourMs,
  video: 6 * hourMs,
  avatar: 6 * hourMs,
  drama: 24 * hourMs,
};
const attemptsMax = 3;

/** Makes a task, or finds the one that the same request made before. */
export async function createTask<B extends CommonBody>(
  parts: CreateParts,
  incoming: IncomingTask<B>,
): Promise<CreatedTask> {
  const keyed = readKey(incoming);
  const prepared = await prepareOrRecall(parts, incoming, keyed);
  if ("task" in prepared) return prepared;
  const { submission, headers } = prepared;
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const outcome = await parts.writer.submit(submission);
    if (outcome.kind === "refused") throw outcome.error;
    if (outcome.kind === "created") {
      parts.reach("submission-written");
      return { task: toQueuedTask(submission.task), isReplay: false, headers };
    }
    const first = await recallTask(parts, incoming.caller, keyed);
    if (first !== null) return first;
    await clearDeadClaim(parts, submission);
  }
  throw new AppError("idempotency_in_progress", "The first request with this Idempotency-Key is still running.", {
    param: "Idempotency-Key",
  });
}

/**
 * What was done is done, whatever the catalog says today: a repetition that would be refused now gets what the first one
 * made. One that is still good meets its key when it is written, so that nobody else has to be asked for it.
 */
async function prepareOrRecall<B extends CommonBody>(
  parts: CreateParts,
  incoming: IncomingTask<B>,
  keyed: Keyed,
): Promise<CreatedTask | { submission: Submission; headers: Record<string, string> }> {
  try {
    return await prepareSubmission(parts, incoming, keyed);
  } catch (error) {
    const known = error instanceof AppError ? await recallTask(parts, incoming.caller, keyed) : null;
    if (known !== null) return known;
    throw error;
  }
}

type Keyed = { key: string; fingerprint: Buffer } | null;

function readKey({ keyed }: IncomingTask): Keyed {
  if (keyed === null) return null;
  const { key, path, rawBody } = keyed;
  const fingerprint = hash("sha256", Buffer.concat([Buffer.from(`POST ${path}\n`), rawBody]), "buffer");
  return { key, fingerprint };
}

async function recallTask(parts: CreateParts, { accountId }: Caller, keyed: Keyed): Promise<CreatedTask | null> {
  if (keyed === null) return null;
  const answer = await recallAnswer(parts, { accountId, ...keyed });
  if (answer === null) return null;
  invariant(answer.contentType === keptTaskType && answer.body !== null, "a key of another endpoint has this request");
  const task = await findTask(parts.database, answer.body.toString());
  invariant(task !== null, "a task that a key remembers is gone");
  return { task, isReplay: true, headers: {} };
}

/** A claim of another kind whose process died is taken over, which also ends its hold; then it is free. */
async function clearDeadClaim(parts: CreateParts, { task, keyed, caller }: Submission): Promise<void> {
  if (keyed === null) return;
  const claim = { accountId: caller.accountId, key: keyed.key, requestId: task.requestId };
  const outcome = await claimKey({ ...parts, ...parts.claims }, { ...claim, ...keyed, holdId: null });
  if (outcome.kind === "claimed") await freeKey(parts.database, claim);
}

/** Everything about a submission that can be known before it is written. Throws what is wrong with it. */
async function prepareSubmission<B extends CommonBody>(
  parts: CreateParts,
  incoming: IncomingTask<B>,
  keyed: Keyed,
): Promise<{ submission: Submission; headers: Record<string, string> }> {
  const { caller, body } = incoming;
  const now = parts.clock.now();
  requireKeepableTexts(body);
  const view = parts.catalog.current();
  const offered = getOfferedModel(view, body.model, caller, now);
  const { model } = offered;
  const checked = incoming.check(body, model);
  if (body.callback_url !== undefined) {
    checkWebhookUrl(body.callback_url, { param: "callback_url", allowsPrivate: parts.allowsPrivate });
  }
  requireAbleTarget(parts, model, checked);
  const audioSeconds = await checkFiles(parts, caller, model, checked);
  const { request, inputs } = checked;
  const terms = quoteTask(getPrice(offered.prices, checked.capability), {
    request,
    audioSeconds,
    budgetAmount: caller.budget?.amount ?? null,
  });
  const held = priceTask(terms);
  const type = request.type;
  const lifeMs = body.expires_after === undefined ? deadlineMs[type] : body.expires_after * 1000;
  const count = request.type === "image" ? request.count : 1;
  const task: NewTask = {
    id: parts.ids.next("task"),
    accountId: caller.accountId,
    keyId: caller.keyId,
    parentId: null,
    type,
    model: model.id,
    request,
    inputs,
    terms,
    holdId: held === 0n ? null : parts.ids.next("hold"),
    outputIds: Array.from({ length: count }, () => parts.ids.next("file")),
    metadata: body.metadata ?? null,
    callbackUrl: body.callback_url ?? null,
    requestId: incoming.requestId,
    clientRequestId: incoming.clientRequestId,
    deadlineAt: new Date(now.getTime() + lifeMs),
    createdAt: now,
  };
  const submission = { task, caller, held: held === 0n ? null : held, keyed };
  return { submission, headers: presentDeprecation(offered) };
}

/** Signs that no database keeps and no vendor means: the end of a text in C, and halves of characters. */
function requireKeepableTexts(value: unknown, path = ""): void {
  if (typeof value === "string") {
    if (value.isWellFormed() && !value.includes("\0")) return;
    throw new AppError("invalid_parameter", `\`${path}\` has characters that are none: U+0000, or half of a pair.`, {
      param: path,
    });
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    const place = Array.isArray(value) ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`;
    requireKeepableTexts(name, path === "" ? "body" : path);
    requireKeepableTexts(item, place);
  }
}

/** The price of the very capability that is used, or the one that is for all of them. */
export function getPrice(prices: readonly Price[], used: Capability): Price {
  const price =
    prices.find(({ capability }) => capability === used) ?? prices.find(({ capability }) => capability === null);
  if (price === undefined) {
    throw new AppError("unsupported_capability", `This model has no price for ${used}.`, { param: "model" });
  }
  return price;
}

function requireAbleTarget(parts: CreateParts, model: Model, { request }: CheckedGeneration): void {
  const targets = listTaskTargets(parts.catalog.current(), model.id, parts.registry);
  const { able, obstacle } = listAbleTargets(targets, request);
  if (able.length > 0) return;
  if (obstacle !== null) throw new AppError("unsupported_capability", obstacle.message, { param: obstacle.param });
  throw new AppError("model_unroutable", "Nothing can serve this model at the moment.", { param: "model" });
}

/** Files have to be there and of the right kind now, and again when the work begins. Answers how long audio takes. */
async function checkFiles(
  { files }: CreateParts,
  { accountId }: Caller,
  { limits }: Model,
  { inputs }: CheckedGeneration,
): Promise<number | null> {
  let audioSeconds: number | null = null;
  for (const input of inputs) {
    if (!("fileId" in input)) continue;
    const kinds = { image: ["image"], person: ["image", "video"], audio: ["audio"] } as const;
    const file = await files.getFile(accountId, input.fileId, { param: input.param, kinds: kinds[input.role] });
    if (input.role !== "audio") continue;
    audioSeconds = Math.max(1, Math.ceil((file.durationMs ?? 0) / 1000));
    const secondsMax = Math.max(...(limits.durations ?? [Number.POSITIVE_INFINITY]));
    if (audioSeconds > secondsMax) {
      const message = `The audio takes ${audioSeconds} seconds; this model makes films of at most ${secondsMax}.`;
      throw new AppError("invalid_parameter", message, { param: input.param });
    }
  }
  return audioSeconds;
}
