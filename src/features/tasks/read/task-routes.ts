import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { Clock } from "../../../lib/clock.ts";
import type { Database } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { describeAnswers } from "../../../platform/http/answer-headers.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../../platform/http/endpoint-table.ts";
import type { EventStream, Heartbeats } from "../../../platform/http/event-stream.ts";
import { sendEvents } from "../../../platform/http/hijack-reply.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import { getCaller } from "../../../platform/http/request-context.ts";
import { describeHeaders } from "../../../platform/http/request-headers.ts";
import type { Files } from "../../files/index.ts";
import { presentTask } from "../present-task.ts";
import { isFinal, type Task, type TaskType } from "../task.ts";
import { cancelTask } from "./cancel-task.ts";
import { parsePrefer } from "./prefer.ts";
import { type PresentComposite, presentRequest } from "./present-request.ts";
import { awaitTask, findQueuePosition, getTask, hasSucceeded } from "./read-task.ts";
import { addTaskListRoutes } from "./task-list-routes.ts";
import { taskRequestSchema, taskSchema } from "./task-schema.ts";
import type { TaskWatch } from "./watch-tasks.ts";

type TaskRouteDependencies = Parameters<typeof cancelTask>[0] & {
  watch: TaskWatch;
  files: Pick<Files, "signLink">;
  heartbeats: Heartbeats;
  presentComposite: PresentComposite;
  /** How many days tasks are kept; 0 keeps them forever. */
  keptDays: number;
};

const tags = ["Tasks"];
const taskParams = pathParams({ task_id: "task" });
const noQuery = Type.Object({}, { additionalProperties: false });
/** Browsers send an empty object, most programs nothing; other bodies have always been ignored. */
const noBodySchema = Type.Unsafe<Record<string, unknown> | null>(
  Type.Object({}, { nullable: true, description: "Nothing, or an empty object." }),
);
const taskAnswer = { always: ["etag"], sometimes: ["retry-after"] } as const;
/** Suggested poll interval in seconds. */
const pollSeconds: Record<TaskType, number> = { image: 2, speech: 1, video: 5, avatar: 5, drama: 10 };
/** How long a cancel request waits for the upstream, so that most callers need not poll. */
const cancelWaitMs = 3_000;

export function addTaskRoutes(http: HttpServer, dependencies: TaskRouteDependencies): void {
  // Requests that wait for a task get its current state when the node is about to stop.
  http.addHook("preClose", async () => dependencies.watch.release());
  addGetTask(http, dependencies);
  addTaskListRoutes(http, dependencies);
  addGetRequest(http, dependencies);
  addCancelTask(http, dependencies);
  addTaskEvents(http, dependencies);
}

export async function presentNow(
  { database, clock, files }: { database: Database; clock: Clock; files: Pick<Files, "signLink"> },
  task: Task,
) {
  const queuePosition = await findQueuePosition(database, task);
  const isParentPaid = await hasSucceeded(database, task.parentId);
  return presentTask(task, { signLink: files.signLink, now: clock.now(), queuePosition, isParentPaid });
}

/** The ETag of this version and, while the task is open, when to poll again. */
export function presentTaskHeaders(task: Task): Record<string, string> {
  return {
    etag: presentETag(task),
    ...(isFinal(task.state) ? {} : { "retry-after": String(pollSeconds[task.type]) }),
  };
}

/** Weak, because each response signs new links. */
function presentETag({ version }: Task): string {
  return `W/"${version}"`;
}

function readKnownVersion(header: string | undefined): number | null {
  const version = /^(?:W\/)?"(\d{1,9})"$/.exec(header ?? "")?.[1];
  return version === undefined ? null : Number(version);
}

/** Aborts when the client disconnects. */
export function watchCaller(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort());
  return gone.signal;
}

function addGetTask(http: HttpServer, dependencies: TaskRouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("getTask", [
    "task_not_found",
    "invalid_parameter",
    "unknown_parameter",
  ]);
  const description = `Returns a task. With the last \`ETag\` in \`If-None-Match\`, returns 304 while nothing has changed.
\`Prefer: wait=N\` (up to 60) waits until the task ends or N seconds have passed; with \`If-None-Match\`, until
anything changes.`;
  http.get(
    "/tasks/:task_id",
    {
      config,
      schema: {
        ...schema,
        summary: "Get a task",
        description,
        tags,
        params: taskParams,
        querystring: noQuery,
        headers: describeHeaders("if-none-match", "prefer"),
        ...describeAnswers({ 200: taskAnswer, 304: taskAnswer }),
        response: { 200: taskSchema, 304: Type.Null({ description: "Not modified." }), ...errors },
      },
    },
    async (request, reply) => {
      const waitMs = parsePrefer(request.headers.prefer).waitMs ?? 0;
      const knownVersion = readKnownVersion(request.headers["if-none-match"]);
      const first = await getTask(dependencies.database, readAsked(request, dependencies));
      const task = await awaitTask(dependencies, first, { knownVersion, waitMs, signal: watchCaller(reply) });
      reply.headers(presentTaskHeaders(task));
      if (waitMs > 0) reply.header("preference-applied", `wait=${waitMs / 1000}`);
      if (task.version === knownVersion) return reply.code(304).send(null);
      return await presentNow(dependencies, task);
    },
  );
}

function readAsked(
  request: { params: { task_id: string }; caller: FastifyRequest["caller"] },
  { keptDays, clock }: TaskRouteDependencies,
) {
  const kept = { days: keptDays, now: clock.now() };
  return { id: request.params.task_id, accountId: getCaller(request).accountId, kept };
}

function addGetRequest(http: HttpServer, dependencies: TaskRouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("getTaskRequest", ["task_not_found", "unknown_parameter"]);
  http.get(
    "/tasks/:task_id/request",
    {
      config,
      schema: {
        ...schema,
        summary: "Get a task's request",
        description: `The request that created a task, with defaults filled in. Send \`body\` to \`endpoint\` to run it again. Tasks
that are steps of another task have none.`,
        tags,
        params: taskParams,
        querystring: noQuery,
        response: { 200: taskRequestSchema, ...errors },
      },
    },
    async (request) => {
      const task = await getTask(dependencies.database, readAsked(request, dependencies));
      if (task.promptErasedAt !== null) {
        throw new AppError("task_not_found", "This task's request has been erased.");
      }
      if (task.parentId === null) return presentRequest(task, dependencies.presentComposite);
      throw new AppError("task_not_found", `This task has no request of its own: it is a step of ${task.parentId}.`);
    },
  );
}

function addCancelTask(http: HttpServer, dependencies: TaskRouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("cancelTask", ["task_not_found", "task_not_cancelable"]);
  const description = `Cancels a task; repeating the call changes nothing. A task that has not started is canceled at once,
at no charge. A running task is canceled if its model supports it, and charged for finished outputs. A task that has
ended is unchanged.`;
  http.post(
    "/tasks/:task_id/cancel",
    {
      config,
      schema: {
        ...schema,
        summary: "Cancel a task",
        description,
        tags,
        params: taskParams,
        body: noBodySchema,
        ...describeAnswers({ 200: taskAnswer }),
        response: { 200: taskSchema, ...errors },
      },
    },
    async (request, reply) => {
      const asked = await cancelTask(dependencies, readAsked(request, dependencies));
      const task = await awaitTask(dependencies, asked, {
        knownVersion: null,
        waitMs: cancelWaitMs,
        signal: watchCaller(reply),
      });
      reply.headers(presentTaskHeaders(task));
      return await presentNow(dependencies, task);
    },
  );
}

function addTaskEvents(http: HttpServer, dependencies: TaskRouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("streamTaskEvents", [
    "task_not_found",
    "unknown_parameter",
    "concurrency_limit_exceeded",
  ]);
  const description = `Streams a task as server-sent events: its current state first, then every change, until it ends.
Each event is named after the change (\`task.queued\`, \`task.processing\`, \`task.progress\`, \`task.step\`, \`task.succeeded\` …) and has the
whole task as its data. To resume, send the last event's id as \`Last-Event-ID\`.`;
  http.get(
    "/tasks/:task_id/events",
    {
      config,
      schema: {
        ...schema,
        summary: "Stream a task's events",
        description,
        tags,
        params: taskParams,
        querystring: noQuery,
        headers: describeHeaders("last-event-id"),
        ...describeAnswers({ 200: { types: ["text/event-stream"] } }),
        response: { 200: Type.Unsafe<string>(Type.String({ description: "The events." })), ...errors },
      },
    },
    async (request, reply) => {
      const task = await getTask(dependencies.database, readAsked(request, dependencies));
      const seen = Number(/^\d{1,9}$/.exec(String(request.headers["last-event-id"] ?? ""))?.[0] ?? 0);
      return await sendEvents(reply, dependencies, (stream) =>
        followTask(dependencies, task, { stream, seen, signal: watchCaller(reply) }),
      );
    },
  );
}

/** Longer than any client stays connected. */
const followMs = 24 * 60 * 60 * 1000;

async function followTask(
  dependencies: TaskRouteDependencies,
  first: Task,
  { stream, seen, signal }: { stream: EventStream; seen: number; signal: AbortSignal },
): Promise<void> {
  let task = first;
  // An id beyond the current version belongs to another stream.
  let known = seen > first.version ? 0 : seen;
  let last: Task | null = null;
  while (!signal.aborted) {
    if (task.version > known) stream.write(await presentEvent(dependencies, task, last));
    known = Math.max(known, task.version);
    last = task;
    // A stopping node ends its streams; clients reconnect elsewhere and resume from the last event.
    if (isFinal(task.state) || dependencies.watch.isReleased()) break;
    task = await awaitTask(dependencies, task, { knownVersion: known, waitMs: followMs, signal });
  }
  stream.end("");
}

async function presentEvent(dependencies: TaskRouteDependencies, task: Task, last: Task | null): Promise<string> {
  const name = nameEvent(task, last);
  return `event: ${name}\nid: ${task.version}\ndata: ${JSON.stringify(await presentNow(dependencies, task))}\n\n`;
}

function nameEvent(task: Task, last: Task | null): string {
  if (task.state !== last?.state) return `task.${task.state}`;
  const describeSteps = ({ steps }: Task): string => steps.map(({ state }) => state).join();
  return describeSteps(task) === describeSteps(last) ? "task.progress" : "task.step";
}
