import type { FastifyReply, FastifyRequest } from "fastify";
import type { TSchema } from "typebox";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../../platform/errors/error-table.ts";
import { describeAnswers } from "../../../platform/http/answer-headers.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { describeEndpoint, type EndpointName } from "../../../platform/http/endpoint-table.ts";
import { createFacts, getCaller } from "../../../platform/http/request-context.ts";
import { describeHeaders } from "../../../platform/http/request-headers.ts";
import { type KeptAnswer, parseIdempotencyKey } from "../../idempotency/index.ts";
import { type Quotable, quoteErrors } from "../../quotes/index.ts";
import { presentTask } from "../present-task.ts";
import { type Preference, parsePrefer } from "../read/prefer.ts";
import { awaitTask } from "../read/read-task.ts";
import { presentNow, presentTaskHeaders, watchCaller } from "../read/task-routes.ts";
import { imageAnswerSchema, taskSchema } from "../read/task-schema.ts";
import { isFinal, type Task } from "../task.ts";
import { findTask } from "../task-store.ts";
import { addTokenCounts, findInlineError, openInlineAnswer } from "./answer-inline.ts";
import { checkAvatar, checkImage, checkVideo } from "./check-generation.ts";
import {
  type CreatedTask,
  createTask,
  type FindModel,
  type IncomingTask,
  type PrepareTask,
  quoteSubmission,
  type SubmitDependencies,
} from "./create-task.ts";
import { avatarRequestSchema, type CommonBody, imageRequestSchema, videoRequestSchema } from "./generation-schema.ts";
import { findInlineForm, type InlineForm } from "./openai-image-options.ts";
import type { CheckMedia, PrepareMedia } from "./prepare-media.ts";
import { keptTaskType } from "./write-submissions.ts";

export type SubmissionRouteDependencies = { submit: SubmitTask; prepareMedia: PrepareMedia };

/** Error codes of a submission, in addition to those of every endpoint. */
export const submissionErrors = [
  "invalid_json",
  "missing_parameter",
  "invalid_parameter",
  "unknown_parameter",
  "unsupported_capability",
  "prompt_too_long",
  "invalid_url",
  "invalid_file",
  "file_not_found",
  "insufficient_balance",
  "daily_spend_cap",
  "key_budget_exceeded",
  "model_unavailable",
  "model_unroutable",
  "idempotency_in_progress",
  "idempotency_key_reused",
  "concurrency_limit_exceeded",
  "payload_too_large",
  "unsupported_media_type",
  ...quoteErrors,
] as const satisfies readonly ErrorCode[];

/** The created task's URL, its version, and when to poll it. */
export const submissionAnswer = { always: ["location", "etag"], sometimes: ["retry-after"] } as const;
export const submissionAnswers = describeAnswers({ 200: submissionAnswer, 202: submissionAnswer });

export const submissionText = `Returns 202 with a task at once. Poll \`GET /tasks/{id}\` or use webhooks for the result. \`Prefer: wait=N\` (up to
60) returns 200 with the finished task if it ends in time. With an \`Idempotency-Key\`, retries of the same request create
one task.`;

const inlineText = `A request from a client of OpenAI's API (by its \`User-Agent\`), or with a field that only that API has
(\`response_format\`, \`quality\` …), waits up to 120 seconds unless it sends \`Prefer: respond-async\`. It returns 200 with
\`data\` beside the task's own fields, the error of a failed task, or 202 if the task takes longer.`;

/** Error codes of a task's end, for requests that wait for it. */
export const inlineErrors = [
  "content_policy_violation",
  "task_canceled",
  "upstream_unavailable",
  "upstream_timeout",
] as const satisfies readonly ErrorCode[];

/** A quote plans a task as its submission does. */
export type QuoteTask = <B extends CommonBody>(
  asked: Parameters<Quotable["quote"]>[0],
  way: { prepare: PrepareTask<B>; findModel?: FindModel },
) => ReturnType<typeof quoteSubmission>;

export function createTaskQuotes(dependencies: Parameters<typeof quoteSubmission>[0]): QuoteTask {
  return ({ caller, body }, { prepare, findModel = null }) =>
    // The schema has checked the body.
    quoteSubmission(dependencies, { caller, body: body as Parameters<typeof prepare>[0]["body"], prepare, findModel });
}

export function listMediaQuotables({
  quote,
  prepareMedia,
}: {
  quote: QuoteTask;
  prepareMedia: PrepareMedia;
}): readonly Quotable[] {
  const image = prepareMedia(checkImage);
  const video = prepareMedia(checkVideo);
  const avatar = prepareMedia(checkAvatar);
  return [
    {
      ...{ endpoint: "createImage", path: "/images/generations", schema: imageRequestSchema },
      quote: (asked) => quote(asked, { prepare: image }),
    },
    {
      ...{ endpoint: "createVideo", path: "/videos/generations", schema: videoRequestSchema },
      quote: (asked) => quote(asked, { prepare: video }),
    },
    {
      ...{ endpoint: "createAvatar", path: "/avatars/generations", schema: avatarRequestSchema },
      quote: (asked) => quote(asked, { prepare: avatar }),
    },
  ];
}

export function addGenerationRoutes(http: HttpServer, dependencies: SubmissionRouteDependencies): void {
  addSubmission(http, dependencies, {
    endpoint: "createImage",
    path: "/images/generations",
    summary: "Create an image",
    description: `${submissionText}\n\n${inlineText}`,
    tag: "Images",
    body: imageRequestSchema,
    answer: imageAnswerSchema,
    errors: inlineErrors,
    check: checkImage,
    findInlineForm,
  });
  addSubmission(http, dependencies, {
    endpoint: "createVideo",
    path: "/videos/generations",
    summary: "Create a video",
    tag: "Videos",
    body: videoRequestSchema,
    check: checkVideo,
  });
  addSubmission(http, dependencies, {
    endpoint: "createAvatar",
    path: "/avatars/generations",
    summary: "Create an avatar video",
    tag: "Avatars",
    body: avatarRequestSchema,
    check: checkAvatar,
  });
}

type SubmissionRoute<B extends CommonBody> = {
  endpoint: EndpointName;
  path: string;
  summary: string;
  description?: string;
  tag: string;
  body: TSchema;
  /** The finished task; `taskSchema` by default. */
  answer?: TSchema;
  errors?: readonly ErrorCode[];
  check: CheckMedia<B>;
  findInlineForm?: SubmissionWay<B>["findInlineForm"];
};

function addSubmission<B extends CommonBody>(
  http: HttpServer,
  { submit, prepareMedia }: SubmissionRouteDependencies,
  route: SubmissionRoute<B>,
): void {
  const { config, schema, errors } = describeEndpoint(route.endpoint, [...submissionErrors, ...(route.errors ?? [])]);
  const prepare = prepareMedia(route.check);
  const { path, findInlineForm } = route;
  http.post(
    route.path,
    {
      config,
      schema: {
        ...schema,
        summary: route.summary,
        description: route.description ?? submissionText,
        tags: [route.tag],
        headers: describeHeaders("idempotency-key", "x-quote-id", "prefer"),
        ...submissionAnswers,
        body: route.body,
        response: { 200: route.answer ?? taskSchema, 202: taskSchema, ...errors },
      },
    },
    async (request, reply) =>
      await submit<B>(request, reply, { path, prepare, ...(findInlineForm === undefined ? {} : { findInlineForm }) }),
  );
}

/** Headers of a submission's response, also of a replay. */
function presentSubmissionHeaders(baseUrl: string, task: Task): Record<string, string> {
  return { ...presentTaskHeaders(task), location: `${baseUrl}/tasks/${task.id}` };
}

export type ReplaySubmission = (kept: KeptAnswer, reply: FastifyReply) => Promise<boolean>;

/** Answers a repeated `Idempotency-Key` with the task it created. Returns false if the key belongs to no task. */
export async function replaySubmission(
  { baseUrl, ...dependencies }: Pick<SubmitDependencies, "database" | "clock" | "files" | "baseUrl">,
  { status, contentType, body }: KeptAnswer,
  reply: FastifyReply,
): Promise<boolean> {
  if (contentType !== keptTaskType || body === null) return false;
  const task = await findTask(dependencies.database, body.toString());
  const answer = task === null ? null : await presentNow(dependencies, task);
  if (task !== null) reply.headers(presentSubmissionHeaders(baseUrl, task));
  reply.code(status).type("application/json; charset=utf-8").send(JSON.stringify(answer));
  return true;
}

/** How an endpoint's requests become tasks. */
type SubmissionWay<B extends CommonBody> = {
  path: string;
  prepare: PrepareTask<B>;
  /** For endpoints without a `model`. */
  findModel?: FindModel;
  /** For endpoints with a `client_business_id`. */
  describeOrder?(body: B): IncomingTask["order"];
  /** How OpenAI clients want the images; `null` for clients that expect a task. */
  findInlineForm?(body: B, headers: FastifyRequest["headers"]): InlineForm | null;
  /** Deletes files that were stored for a task that was not created. */
  discard?(): Promise<void>;
};

/** How long requests from OpenAI clients wait. */
const inlineWaitMs = 120_000;

export type SubmitTask = <B extends CommonBody>(
  request: FastifyRequest,
  reply: FastifyReply,
  way: SubmissionWay<B>,
) => Promise<FastifyReply>;

/** Creates a task from a validated request, and waits for it if requested. */
export async function submitTask<B extends CommonBody>(
  dependencies: SubmitDependencies,
  { request, reply, way }: { request: FastifyRequest; reply: FastifyReply; way: SubmissionWay<B> },
): Promise<FastifyReply> {
  const { findInlineForm } = way;
  const preference = parsePrefer(request.headers.prefer);
  const inline = preference.isAsync ? null : (findInlineForm?.(request.body as B, request.headers) ?? null);
  const waitMs = preference.waitMs ?? (inline === null ? 0 : inlineWaitMs);
  const key = parseIdempotencyKey(request.headers["idempotency-key"]);
  const created = await createWanted(dependencies, { request, key, way });
  reply.headers(created.headers);
  if (created.isReplay) reply.header("idempotent-replayed", "true");
  request.facts = createFacts({ model: created.task.model, taskId: created.task.id });
  const signal = watchCaller(reply);
  const task =
    waitMs === 0 ? created.task : await awaitTask(dependencies, created.task, { knownVersion: null, waitMs, signal });
  request.logFields = { model: task.model, task_id: task.id, task_status: task.state };
  reply.headers(presentSubmissionHeaders(dependencies.baseUrl, task));
  const applied = presentApplied(preference, { isInlineKnown: findInlineForm !== undefined });
  if (applied !== null) reply.header("preference-applied", applied);
  dependencies.failpoint("submission-answered");
  if (inline !== null && isFinal(task.state)) {
    return await answerInline(dependencies, { reply, task, form: inline, isKeyed: key !== null });
  }
  // No queue position here: it would cost a query that delays the response.
  const answer =
    task === created.task && !created.isReplay
      ? presentTask(task, { signLink: dependencies.files.signLink, now: dependencies.clock.now(), queuePosition: null })
      : await presentNow(dependencies, task);
  reply.code(waitMs > 0 && isFinal(task.state) ? 200 : 202).type("application/json; charset=utf-8");
  return reply.send(JSON.stringify(answer));
}

async function createWanted<B extends CommonBody>(
  dependencies: SubmitDependencies,
  { request, key, way }: { request: FastifyRequest; key: string | null; way: SubmissionWay<B> },
): Promise<CreatedTask> {
  const { path, prepare, findModel = null, describeOrder, discard } = way;
  const { rawBody } = request;
  const quoteId = request.headers["x-quote-id"];
  // The schema has checked it.
  const body = request.body as B;
  try {
    const created = await createTask<B>(dependencies, {
      caller: getCaller(request),
      body,
      requestId: request.id,
      clientRequestId: request.clientRequestId,
      keyed: key === null || rawBody === null ? null : { key, path, rawBody },
      order: describeOrder?.(body) ?? null,
      prepare,
      findModel,
      quoted: quoteId === undefined ? null : { id: String(quoteId), path },
      seen: request.limits,
      span: request.span,
    });
    if (created.isReplay) await discard?.();
    return created;
  } catch (error) {
    // After any other error the task may exist.
    if (error instanceof AppError) await discard?.();
    throw error;
  }
}

function presentApplied({ waitMs, isAsync }: Preference, { isInlineKnown }: { isInlineKnown: boolean }): string | null {
  if ((waitMs ?? 0) > 0) return `wait=${(waitMs ?? 0) / 1000}`;
  return isAsync && isInlineKnown ? "respond-async" : null;
}

/** The response for OpenAI clients: the images, or the task's error. */
async function answerInline(
  dependencies: SubmitDependencies,
  { reply, task, form, isKeyed }: { reply: FastifyReply; task: Task; form: InlineForm; isKeyed: boolean },
): Promise<FastifyReply> {
  const error = findInlineError(task, { isKeyed });
  if (error !== null) {
    // The ETag belongs to the task, not to the error; `Location` points to the task.
    reply.removeHeader("etag");
    throw error;
  }
  const answer = addTokenCounts(await presentNow(dependencies, task));
  reply.code(200).type("application/json; charset=utf-8");
  if (form === "url") return reply.send(JSON.stringify(answer));
  const { bytes, body } = await openInlineAnswer(dependencies.files, { task, answer });
  return reply.header("content-length", bytes).send(body);
}
