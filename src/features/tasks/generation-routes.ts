import type { FastifyReply, FastifyRequest } from "fastify";
import { type TSchema, Type } from "typebox";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint, type EndpointName } from "../../platform/http/endpoint-table.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { parseIdempotencyKey } from "../idempotency/index.ts";
import { checkAvatar, checkImage, checkVideo } from "./check-generation.ts";
import { type CreateParts, createTask, type IncomingTask, type PrepareTask } from "./create-task.ts";
import { avatarRequestSchema, type CommonBody, imageRequestSchema, videoRequestSchema } from "./generation-schema.ts";
import { parsePrefer } from "./prefer.ts";
import { type CheckMedia, prepareMedia } from "./prepare-media.ts";
import { presentTask } from "./present-task.ts";
import { awaitTask } from "./read-task.ts";
import { isFinal } from "./task.ts";
import { presentNow, presentTaskHeaders, type TaskRouteParts, watchCaller } from "./task-routes.ts";
import { taskSchema } from "./task-schema.ts";

export type GenerationRouteParts = CreateParts & TaskRouteParts & { baseUrl: string };

/** What a submission can be answered with beyond what every endpoint can. */
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
  "key_budget_exceeded",
  "model_unavailable",
  "model_unroutable",
  "idempotency_in_progress",
  "idempotency_key_reused",
  "concurrency_limit_exceeded",
  "payload_too_large",
  "unsupported_media_type",
] as const satisfies readonly ErrorCode[];

export const submissionText = `Answers 202 with a task at once; \`GET /tasks/{id}\` and webhooks tell what comes of it. \`Prefer: wait=N\` (up to
60) answers 200 with the finished task if it ends in time. With an \`Idempotency-Key\` the same request can be sent again
and makes one task.`;

export function addGenerationRoutes(http: HttpServer, parts: GenerationRouteParts): void {
  addSubmission(http, parts, {
    endpoint: "createImage",
    path: "/images/generations",
    summary: "Make images",
    tag: "Images",
    body: imageRequestSchema,
    check: checkImage,
  });
  addSubmission(http, parts, {
    endpoint: "createVideo",
    path: "/videos/generations",
    summary: "Make a film",
    tag: "Videos",
    body: videoRequestSchema,
    check: checkVideo,
  });
  addSubmission(http, parts, {
    endpoint: "createAvatar",
    path: "/avatars/generations",
    summary: "Let a person speak",
    tag: "Avatars",
    body: avatarRequestSchema,
    check: checkAvatar,
  });
}

type SubmissionRoute<B extends CommonBody> = {
  endpoint: EndpointName;
  path: string;
  summary: string;
  tag: string;
  body: TSchema;
  check: CheckMedia<B>;
};

function addSubmission<B extends CommonBody>(
  http: HttpServer,
  parts: GenerationRouteParts,
  route: SubmissionRoute<B>,
): void {
  const { config, schema, errors } = describeEndpoint(route.endpoint, submissionErrors);
  const prepare = prepareMedia(parts, route.check);
  http.post(
    route.path,
    {
      config,
      schema: {
        ...schema,
        summary: route.summary,
        description: submissionText,
        tags: [route.tag],
        headers: Type.Object({ "idempotency-key": Type.Optional(Type.String()), prefer: Type.Optional(Type.String()) }),
        body: route.body,
        response: { 200: taskSchema, 202: taskSchema, ...errors },
      },
    },
    (request, reply) => submit(parts, { request, reply, path: route.path, prepare }),
  );
}

/** How requests of an endpoint become tasks. */
type SubmissionWay<B extends CommonBody> = {
  path: string;
  prepare: PrepareTask<B>;
  /** Where callers can name a piece of business of theirs. */
  describeOrder?(body: B): IncomingTask["order"];
};

export type SubmitTask = <B extends CommonBody>(
  request: FastifyRequest,
  reply: FastifyReply,
  way: SubmissionWay<B>,
) => Promise<FastifyReply>;

/** Makes a task of a request that its schema has checked, and waits for it where that is asked for. */
export async function submit<B extends CommonBody>(
  parts: GenerationRouteParts,
  { request, reply, path, prepare, describeOrder }: SubmissionWay<B> & { request: FastifyRequest; reply: FastifyReply },
) {
  const { waitMs } = parsePrefer(request.headers.prefer);
  const key = parseIdempotencyKey(request.headers["idempotency-key"]);
  const { rawBody } = request;
  const created = await createTask<B>(parts, {
    caller: getCaller(request),
    // The schema has checked it.
    body: request.body as B,
    requestId: request.id,
    clientRequestId: request.clientRequestId,
    keyed: key === null || rawBody === null ? null : { key, path, rawBody },
    order: describeOrder?.(request.body as B) ?? null,
    prepare,
  });
  reply.headers(created.headers);
  if (created.isReplay) reply.header("idempotent-replayed", "true");
  const signal = watchCaller(reply);
  const task =
    waitMs === 0 ? created.task : await awaitTask(parts, created.task, { knownVersion: null, waitMs, signal });
  request.logFields = { model: task.model, task: task.id, task_status: task.state };
  reply.headers({ ...presentTaskHeaders(task), location: `${parts.baseUrl}/tasks/${task.id}` });
  if (waitMs > 0) reply.header("preference-applied", `wait=${waitMs / 1000}`);
  // Where a task stands in the line is told to those who ask for it later: nobody waits for that here.
  const answer =
    task === created.task && !created.isReplay
      ? presentTask(task, { signLink: parts.files.signLink, now: parts.clock.now(), queuePosition: null })
      : await presentNow(parts, task);
  parts.reach("submission-answered");
  reply.code(waitMs > 0 && isFinal(task.state) ? 200 : 202).type("application/json; charset=utf-8");
  return reply.send(JSON.stringify(answer));
}
