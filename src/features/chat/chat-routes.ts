import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { Clock } from "../../lib/clock.ts";
import { presentMoney } from "../../lib/money.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { presentError, toAppError } from "../../platform/http/error-response.ts";
import {
  type EventStream,
  eventStreamHeaders,
  type Heartbeats,
  openEventStream,
} from "../../platform/http/event-stream.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import { type Claim, type KeptAnswer, parseIdempotencyKey, renewClaim } from "../idempotency/index.ts";
import { presentLimitHeaders } from "../limits/index.ts";
import { chatAnswerSchema } from "./chat-answer-schema.ts";
import { chatRequestSchema } from "./chat-request-schema.ts";
import {
  admitChat,
  type ChatParts,
  type CheckedChat,
  checkChat,
  type IncomingChat,
  recallChat,
  startChat,
} from "./complete-chat.ts";
import { createKeptConclusion, createRecorder } from "./keep-chat.ts";
import type { Settlement } from "./pay-chat.ts";
import { type ChatEnvelope, createChunkWriter, createEnvelope, presentCompletion, streamEnd } from "./present-chat.ts";
import type { ChatEnd, RunningChat } from "./run-chat.ts";

type ChatRouteParts = ChatParts & { heartbeats: Heartbeats };

const jsonType = "application/json; charset=utf-8";
const streamType = eventStreamHeaders["content-type"];

const description = `The OpenAI Chat Completions contract. \`model\` is an id from the model list. With \`stream\` the answer
comes as server-sent events and ends with \`data: [DONE]\`. \`usage.charge\` is what the call cost. With an
\`Idempotency-Key\` the call can be sent again: it is done and paid once, also when the connection breaks.`;

/** What chat can be answered with beyond what every endpoint can. */
const chatErrors = [
  "invalid_json",
  "missing_parameter",
  "invalid_parameter",
  "unknown_parameter",
  "unsupported_capability",
  "prompt_too_long",
  "invalid_url",
  "content_policy_violation",
  "insufficient_balance",
  "key_budget_exceeded",
  "model_unavailable",
  "idempotency_in_progress",
  "already_completed",
  "payload_too_large",
  "unsupported_media_type",
  "idempotency_key_reused",
  "token_limit_exceeded",
  "concurrency_limit_exceeded",
  "upstream_unavailable",
  "upstream_timeout",
  "model_unroutable",
] as const satisfies readonly ErrorCode[];

export function addChatRoutes(http: HttpServer, parts: ChatRouteParts): void {
  const { config, schema, errors } = describeEndpoint("createChatCompletion", chatErrors);
  http.post(
    "/chat/completions",
    {
      config,
      schema: {
        ...schema,
        summary: "Create a chat completion",
        description,
        tags: ["Chat"],
        headers: Type.Object({ "idempotency-key": Type.Optional(Type.String()) }),
        body: chatRequestSchema,
        response: { 200: Type.Unsafe<string>(chatAnswerSchema), ...errors },
      },
    },
    async (request, reply) => {
      const incoming = describeIncoming(request);
      const kept = incoming.keyed && (await recallChat(parts, incoming, incoming.keyed));
      if (kept !== null) return replay(reply, kept);
      const chat = checkChat(parts, incoming);
      reply.headers(chat.headers);
      const admitting = admitChat(parts, chat, request.limits ?? undefined);
      // Most calls are admitted at once, and then nobody waits a turn for it.
      const admission = admitting instanceof Promise ? await admitting : admitting;
      if (admission.kind === "answered") return replay(reply, admission.answer);
      request.limits = admission.limits;
      const call = createCall(parts, { request, reply, chat, claim: admission.claim });
      return await (chat.request.stream === true ? streamAnswer(parts, call) : sendAnswer(parts, call));
    },
  );
}

function describeIncoming(request: FastifyRequest): IncomingChat {
  const key = parseIdempotencyKey(request.headers["idempotency-key"]);
  const { rawBody } = request;
  request.rawBody = null;
  return {
    caller: getCaller(request),
    // The schema has checked it.
    request: request.body as ChatRequest,
    bodyBytes: request.bodyBytes,
    requestId: request.id,
    keyed: key === null || rawBody === null ? null : { key, rawBody },
  };
}

function replay(reply: FastifyReply, { status, contentType, body, summary }: KeptAnswer): FastifyReply {
  reply.header("idempotent-replayed", "true");
  if (body === null) {
    throw new AppError(
      "already_completed",
      `This request was answered already, at too great a length to keep. ${summary}`,
      {
        param: "Idempotency-Key",
      },
    );
  }
  if (contentType === streamType) reply.headers(eventStreamHeaders);
  return reply.code(status).type(contentType).send(body);
}

/** One call, as its route sees it. */
type Call = {
  request: FastifyRequest;
  reply: FastifyReply;
  chat: CheckedChat;
  claim: Claim | null;
  envelope: ChatEnvelope;
};

function createCall(parts: ChatRouteParts, { request, reply, chat, claim }: Omit<Call, "envelope">): Call {
  return { request, reply, chat, claim, envelope: createEnvelope(request.id, chat.model.id, parts.clock.now()) };
}

/** The end of a call; if its caller goes away first, a call without a key is stopped. */
function followCall(
  parts: ChatRouteParts,
  { request, reply, chat, claim }: Call,
  running: RunningChat,
): Promise<ChatEnd> {
  request.logFields = { model: chat.model.id };
  if (claim !== null) {
    // The answer is kept for whoever asks again, and nobody has to read it for that.
    reply.raw.on("close", () => running.resume());
    return running.ended.finally(renewClaim(parts, claim));
  }
  reply.raw.on("close", () => {
    if (!reply.raw.writableFinished) running.hangUp();
  });
  // The caller may have gone while the call was being admitted.
  if (reply.raw.destroyed) running.hangUp();
  return running.ended;
}

function describeEnd({ model, request }: CheckedChat, end: ChatEnd): Record<string, unknown> {
  const { usage, settlement, hasHungUp, stoppedBy } = end;
  const fields: Record<string, unknown> = {
    model: model.id,
    stream: request.stream === true,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    charge: presentMoney(settlement.charge),
  };
  if (settlement.lost !== 0n) fields.lost = presentMoney(settlement.lost);
  if (usage.isCounted) fields.counted = true;
  if (hasHungUp) fields.hung_up = true;
  if (stoppedBy !== null) fields.stopped_by = stoppedBy;
  return fields;
}

type Headers = Record<string, number | string | string[] | undefined>;

/** Takes an answer out of the framework's hands, whose way of sending it is felt; answers the headers that it has. */
function takeOver({ request, reply }: Call, clock: Clock): Headers {
  reply.hijack();
  request.respondedMs = clock.monotonicMs();
  return { ...reply.getHeaders(), ...(request.limits && presentLimitHeaders(request.limits)) };
}

async function sendAnswer(parts: ChatRouteParts, call: Call): Promise<FastifyReply> {
  const { chat, claim, envelope, reply, request } = call;
  const present = ({ choices, usage, stoppedBy }: Omit<ChatEnd, "settlement">, { charge }: Settlement): string =>
    presentCompletion(envelope, { choices: choices ?? "[]", usage, charge, stoppedBy });
  const conclude =
    claim &&
    createKeptConclusion(parts, claim, {
      completionId: envelope.id,
      present: (end, settlement) => ({ contentType: jsonType, body: present(end, settlement) }),
    });
  const running = startChat(parts, chat, { listener: null, conclude });
  const end = await followCall(parts, call, running);
  request.logFields = describeEnd(chat, end);
  const body = present(end, end.settlement);
  const headers = takeOver(call, parts.clock);
  headers["content-type"] = jsonType;
  headers["content-length"] = Buffer.byteLength(body);
  reply.raw.writeHead(200, headers).end(body);
  return reply;
}

async function streamAnswer(parts: ChatRouteParts, call: Call): Promise<FastifyReply> {
  const { chat, claim, envelope, reply, request } = call;
  const writer = createChunkWriter(envelope, { includesUsage: chat.request.stream_options?.include_usage === true });
  const recorder = claim === null ? null : createRecorder();
  let stream: EventStream | null = null;

  function open(): EventStream {
    stream ??= openEventStream(reply.raw, {
      headers: takeOver(call, parts.clock),
      heartbeats: parts.heartbeats,
      onDrain: () => running.resume(),
    });
    return stream;
  }

  const presentFailure = (error: unknown): string => {
    const appError = toAppError(error, request);
    request.failure = appError;
    return `data: ${JSON.stringify(presentError(appError, request.id).body)}\n\n`;
  };
  const presentTail = ({ usage, failure }: Omit<ChatEnd, "settlement">, { charge }: Settlement): string =>
    failure === null ? writer.presentUsage(usage, charge) + streamEnd : presentFailure(failure);
  const keep = (end: Omit<ChatEnd, "settlement">, settlement: Settlement) => {
    recorder?.add(presentTail(end, settlement));
    return { contentType: streamType, body: recorder?.join() ?? null };
  };
  const conclude = claim && createKeptConclusion(parts, claim, { completionId: envelope.id, present: keep });

  const running = startChat(parts, chat, {
    listener: {
      onAccepted: () => void open(),
      onPieces(pieces, stoppedBy) {
        let events = "";
        for (const { choices } of pieces) events += writer.present(choices, stoppedBy);
        recorder?.add(events);
        return open().write(events);
      },
    },
    conclude,
  });
  try {
    const end = await followCall(parts, call, running);
    request.logFields = describeEnd(chat, end);
    open().end(presentTail(end, end.settlement));
  } catch (error) {
    if (stream === null) throw error;
    open().end(presentFailure(error));
  }
  return reply;
}
