import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import { describeAnswers } from "../../platform/http/answer-headers.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import type { Heartbeats } from "../../platform/http/event-stream.ts";
import { sendEvents } from "../../platform/http/hijack-reply.ts";
import { pathParams } from "../../platform/http/path-params.ts";
import { createFacts, getCaller } from "../../platform/http/request-context.ts";
import { describeHeaders } from "../../platform/http/request-headers.ts";
import { compileOutlined, compileValidator } from "../../platform/http/validation.ts";
import { type PaidRoute, readKey } from "../calls/index.ts";
import { type ChatKinds, chatErrors } from "../chat/index.ts";
import { type Claim, claimKey, freeKey, type KeptAnswer, recallAnswer } from "../idempotency/index.ts";
import type { BackgroundResponses } from "./background-responses.ts";
import { openInput } from "./background-run.ts";
import { openConversation, RequestedResponse } from "./create-response.ts";
import { pageBytesMax, presentItemPage } from "./item-page.ts";
import { hasHistory, listInputItems } from "./load-conversation.ts";
import { hasFiles } from "./load-files.ts";
import { outlineResponse } from "./outline-response.ts";
import type { Conversation } from "./prepare-response.ts";
import { describeBasis } from "./quote-response.ts";
import type { ResponseDependencies } from "./response-dependencies.ts";
import type { JsonObject, ResponseRequest } from "./response-request.ts";
import { responseRequestSchema } from "./response-request-schema.ts";
import {
  deletedResponseSchema,
  inputItemListSchema,
  inputItemQuerySchema,
  responseQuerySchema,
  responseSchema,
} from "./response-schema.ts";
import { deleteResponse, findEvents, findResponse, type StoredResponse } from "./response-store.ts";
import { isSavable } from "./save-response.ts";

type RouteDependencies = ResponseDependencies & {
  background: BackgroundResponses;
  heartbeats: Heartbeats;
};

const tags = ["Responses"];
const path = "/v1/responses";
const jsonType = "application/json; charset=utf-8";
const responseParams = pathParams({ response_id: "response" });
const createDescription = `OpenAI's Responses API. \`input\` is a text or a list of items, \`model\` an \`id\` from \`GET /v1/models\`. With \`stream\` the
response arrives as numbered server-sent events and ends with \`response.completed\`, \`response.incomplete\` or
\`response.failed\`. \`usage.charge\` is the cost of the call. With an \`Idempotency-Key\` you can send the call again after a
broken connection: it runs and is charged once. The response is stored unless \`store\` is \`false\`. Continue a stored response
with \`previous_response_id\`. With \`background\` the call returns at once and the response runs without a connection.`;

/** Errors of creating a response, in addition to those of every endpoint. */
const createErrors = ["not_found", ...chatErrors] as const satisfies readonly ErrorCode[];

export function addResponseRoutes(http: HttpServer, dependencies: RouteDependencies): void {
  addCreateResponse(http, dependencies);
  addGetResponse(http, dependencies);
  addDeleteResponse(http, dependencies);
  addCancelResponse(http, dependencies);
  addListInputItems(http, dependencies);
}

function addCreateResponse(http: HttpServer, dependencies: RouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("createResponse", createErrors);
  http.post(
    "/responses",
    {
      config: {
        ...{ ...config, storesTexts: false, keepsText: true },
        outline: (bytes, limits) =>
          outlineResponse(bytes, limits, (model) => dependencies.chat.forwards(model, "responses")),
      },
      validatorCompiler: compileOutlined(compileValidator),
      schema: {
        ...schema,
        summary: "Create a response",
        description: createDescription,
        tags,
        headers: describeHeaders("idempotency-key", "x-quote-id"),
        ...describeAnswers({ 200: { types: ["application/json", "text/event-stream"] } }),
        body: responseRequestSchema,
        response: { 200: Type.Unsafe<string>(responseSchema), ...errors },
      },
    },
    // Not `async`: a pending promise and its closure would stay in memory for the whole stream.
    (request, reply) => {
      const asked = request.body as ResponseRequest;
      if (asked.background === true) answerAtOnce(dependencies, request, reply);
      else if (!hasHistory(asked) && !hasFiles(asked) && hasRoom(dependencies, request)) {
        answerNow(dependencies, openConversation(asked), request, reply);
      } else answerLater(dependencies, request, reply);
    },
  );
}

function answerNow(
  dependencies: RouteDependencies,
  conversation: Conversation,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const asked = new RequestedResponse(dependencies, conversation);
  const route: PaidRoute<ChatKinds> = {
    path,
    findBasis: () => describeBasis(conversation),
    prepare: (incoming) => asked.prepare(incoming),
    conclude: (end) => asked.conclude(end),
  };
  dependencies.calls.answer(route, request, reply);
}

/** Whether nothing will be stored, or the account had room a moment ago. */
function hasRoom(dependencies: RouteDependencies, request: FastifyRequest): boolean {
  const asked = request.body as ResponseRequest;
  const isStored = isSavable(dependencies, { request: asked, bytes: request.bodyBytes }) || asked.conversation != null;
  return !isStored || dependencies.quota.isRoomy(getCaller(request).accountId);
}

async function openStored(dependencies: RouteDependencies, request: FastifyRequest): Promise<Conversation> {
  const { accountId } = getCaller(request);
  const asked = request.body as ResponseRequest;
  if (!hasRoom(dependencies, request)) await dependencies.quota.require(dependencies.database, accountId, 0);
  return await openInput(dependencies, accountId, asked);
}

/** An idempotent retry is answered even if the conversation that it continued is gone. */
function answerLater(dependencies: RouteDependencies, request: FastifyRequest, reply: FastifyReply): void {
  openStored(dependencies, request).then(
    (conversation) => answerNow(dependencies, conversation, request, reply),
    (error: unknown) => {
      const prepare = (): never => {
        throw error;
      };
      dependencies.calls.answer<ChatKinds>({ path, prepare }, request, reply);
    },
  );
}

/** Responds with the initial state of a background response. */
function answerAtOnce(dependencies: RouteDependencies, request: FastifyRequest, reply: FastifyReply): void {
  createInBackground(dependencies, request, reply).catch((error: unknown) => reply.send(error));
}

async function createInBackground(
  dependencies: RouteDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { accountId } = getCaller(request);
  const keyed = readKey(request, path);
  request.rawBody = null;
  const wanted = keyed && { ...keyed, accountId, requestId: request.id, holdId: null };
  const prepared = await prepareInBackground(dependencies, request).catch(async (error: unknown) => {
    // A repeated request gets its response even if the conversation that it continued is gone.
    const kept = wanted && (await recallAnswer({ ...dependencies, ...dependencies.claims }, wanted));
    if (kept === null) throw error;
    return kept;
  });
  if ("contentType" in prepared) return await replay(dependencies, request, reply, prepared);
  const outcome = wanted && (await claimKey({ ...dependencies, ...dependencies.claims }, wanted));
  if (outcome?.kind === "answered") return await replay(dependencies, request, reply, outcome.answer);
  const claim = outcome?.claim ?? null;
  reply.headers(prepared.plan.headers);
  const begun = await beginInBackground(dependencies, request, prepared, claim).catch(async (error: unknown) => {
    if (claim !== null) await freeKey(dependencies.database, claim);
    throw error;
  });
  if ((request.body as ResponseRequest).stream !== true) {
    reply.type(jsonType).send(begun.body);
    return;
  }
  const stored = await getStored(dependencies, { accountId, id: begun.id });
  await sendStored(dependencies, reply, stored, -1);
}

async function beginInBackground(
  { background }: RouteDependencies,
  request: FastifyRequest,
  prepared: ReturnType<RequestedResponse["prepareSaved"]>,
  claim: Claim | null,
): Promise<{ id: string; body: string }> {
  const { limits, span, bodyBytes } = request;
  const { modelId } = prepared.plan;
  const facts = createFacts({ model: modelId, isOpen: true, isBackground: true });
  // Before the response starts: a rejected stream must not leave it running.
  const isStreamed = (request.body as ResponseRequest).stream === true;
  const leave = isStreamed ? await request.enterStream() : () => {};
  try {
    const begun = await background.begin({ ...prepared, limits, span, facts }, { bodyBytes, claim });
    request.logFields = { model: modelId };
    request.facts = facts;
    return begun;
  } catch (error) {
    leave();
    throw error;
  }
}

async function prepareInBackground(dependencies: RouteDependencies, request: FastifyRequest) {
  const { body, bodyBytes, id: requestId } = request;
  const conversation = await openStored(dependencies, request);
  const requested = new RequestedResponse(dependencies, conversation);
  const prepare = () => requested.prepareSaved({ caller: getCaller(request), body, bodyBytes, requestId });
  if (request.headers["x-quote-id"] === undefined) return prepare();
  const findBasis = (): string => describeBasis(conversation);
  return dependencies.calls.planQuoted(request, { path, findBasis }, prepare);
}

/** Answers a repeated request with the response that it created, as it is now. */
async function replay(
  dependencies: RouteDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  { body }: KeptAnswer,
): Promise<void> {
  const { accountId } = getCaller(request);
  const stored = await getStored(dependencies, { accountId, id: String(body) });
  reply.header("idempotent-replayed", "true");
  if ((request.body as ResponseRequest).stream !== true) {
    reply.type(jsonType).send(stored.body);
    return;
  }
  await sendStored(dependencies, reply, stored, -1);
}

async function getStored(
  { database, clock, background }: RouteDependencies,
  key: Pick<StoredResponse, "accountId" | "id">,
): Promise<StoredResponse> {
  let response = await findResponse(database, key, clock.now());
  if (response?.state === "in_progress") {
    // Recover it now if its process died, instead of at the next sweep.
    await background.recover(key);
    response = await findResponse(database, key, clock.now());
  }
  if (response !== null) return response;
  throw new AppError("not_found", "There is no such response, or it has expired.", { param: "response_id" });
}

function readAsked(request: { params: { response_id: string }; caller: FastifyRequest["caller"] }) {
  return { id: request.params.response_id, accountId: getCaller(request).accountId };
}

async function sendStored(
  { clock, heartbeats, background }: RouteDependencies,
  reply: FastifyReply,
  response: StoredResponse,
  startingAfter: number,
): Promise<FastifyReply> {
  const isGone = (): boolean => reply.raw.destroyed;
  return await sendEvents(reply, { clock, heartbeats }, async (stream) => {
    await background.follow(response, startingAfter, { write: (events) => void stream.write(events), isGone });
    stream.end("");
  });
}

function addGetResponse(http: HttpServer, dependencies: RouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("getResponse", [
    "not_found",
    "concurrency_limit_exceeded",
    "invalid_parameter",
    "unknown_parameter",
  ]);
  http.get(
    "/responses/:response_id",
    {
      config,
      schema: {
        ...schema,
        summary: "Get a response",
        description: `Returns a stored response. With \`stream=true\`, streams the events of a background response, from the start or
after the sequence number \`starting_after\`.`,
        tags,
        params: responseParams,
        querystring: responseQuerySchema,
        ...describeAnswers({ 200: { types: ["application/json", "text/event-stream"] } }),
        response: { 200: Type.Unsafe<string>(responseSchema), ...errors },
      },
    },
    async (request, reply) => {
      const { stream = false, starting_after: startingAfter = -1 } = request.query;
      const response = await getStored(dependencies, readAsked(request));
      if (!stream) return reply.type(jsonType).send(response.body);
      if ((JSON.parse(response.body) as JsonObject).background !== true) {
        const message = "Only a background response can be streamed again.";
        throw new AppError("invalid_parameter", message, { param: "stream" });
      }
      if ((await findEvents(dependencies.database, response))?.events === null) {
        const message =
          "The events of this response are not stored: it was created without `stream`, or has too many. Get it without `stream`.";
        throw new AppError("invalid_parameter", message, { param: "stream" });
      }
      return await sendStored(dependencies, reply, response, startingAfter);
    },
  );
}

function addDeleteResponse(http: HttpServer, dependencies: RouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("deleteResponse", ["not_found", "unknown_parameter"]);
  http.delete(
    "/responses/:response_id",
    {
      config,
      schema: {
        ...schema,
        summary: "Delete a response",
        description: "Deletes a response and its input items. It can no longer be continued.",
        tags,
        params: responseParams,
        querystring: Type.Object({}, { additionalProperties: false }),
        response: { 200: deletedResponseSchema, ...errors },
      },
    },
    async (request) => {
      const { id } = await getStored(dependencies, readAsked(request));
      await deleteResponse(dependencies.database, readAsked(request));
      return { id, object: "response" as const, deleted: true as const };
    },
  );
}

function addCancelResponse(http: HttpServer, dependencies: RouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("cancelResponse", ["not_found", "invalid_parameter"]);
  http.post(
    "/responses/:response_id/cancel",
    {
      config,
      schema: {
        ...schema,
        summary: "Cancel a response",
        description: `Cancels a background response. You are charged for what the model has written. A finished response stays
as it is.`,
        tags,
        params: responseParams,
        body: Type.Unsafe<Record<string, unknown> | null>(
          Type.Object({}, { nullable: true, description: "Empty, or an empty object." }),
        ),
        response: { 200: Type.Unsafe<string>(responseSchema), ...errors },
      },
    },
    async (request, reply) => {
      const response = await getStored(dependencies, readAsked(request));
      if ((JSON.parse(response.body) as JsonObject).background !== true) {
        const message = "Only a background response can be cancelled.";
        throw new AppError("invalid_parameter", message, { param: "response_id" });
      }
      if (response.state === "in_progress") await dependencies.background.cancel(response);
      return reply.type(jsonType).send((await getStored(dependencies, readAsked(request))).body);
    },
  );
}

function addListInputItems(http: HttpServer, dependencies: RouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("listInputItems", [
    "not_found",
    "invalid_parameter",
    "unknown_parameter",
  ]);
  http.get(
    "/responses/:response_id/input_items",
    {
      config,
      schema: {
        ...schema,
        summary: "List input items",
        description: `Lists the items that a response was made from, including those of earlier responses, newest first. A page has up to
1 MiB of items, and at least one item.`,
        tags,
        params: responseParams,
        querystring: inputItemQuerySchema,
        response: { 200: Type.Unsafe<string>(inputItemListSchema), ...errors },
      },
    },
    async (request, reply) => {
      const { limit = 20, order = "desc", after = null } = request.query;
      const response = await getStored(dependencies, readAsked(request));
      const page = await listInputItems(dependencies, response, { limit, bytesMax: pageBytesMax, order, after });
      if (page !== null) return reply.type(jsonType).send(presentItemPage(page));
      throw new AppError("invalid_parameter", "`after` must be the id of an item in this list.", { param: "after" });
    },
  );
}
