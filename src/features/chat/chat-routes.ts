import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { presentMoney } from "../../lib/money.ts";
import { type Soon, whenHere } from "../../lib/soon.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import { describeAnswers } from "../../platform/http/answer-headers.ts";
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
import { describeHeaders } from "../../platform/http/request-headers.ts";
import { takeOver } from "../../platform/http/take-over.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import type { ChatPiece } from "../../providers/contract.ts";
import { type Claim, type KeptAnswer, parseIdempotencyKey, renewClaim } from "../idempotency/index.ts";
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
import { createKeptConclusion, createRecorder, type Recorder } from "./keep-chat.ts";
import type { Settlement } from "./pay-chat.ts";
import {
  type ChatEnvelope,
  type ChunkWriter,
  createChunkWriter,
  createEnvelope,
  presentCompletion,
  streamEnd,
} from "./present-chat.ts";
import type { ChatEnd, ChatListener, ConcludeChat, RunningChat, StoppedBy } from "./run-chat.ts";

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
  "context_length_exceeded",
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
      config: { ...config, storesTexts: false },
      schema: {
        ...schema,
        summary: "Create a chat completion",
        description,
        tags: ["Chat"],
        headers: describeHeaders("idempotency-key"),
        ...describeAnswers({ 200: { types: ["application/json", "text/event-stream"] } }),
        body: chatRequestSchema,
        response: { 200: Type.Unsafe<string>(chatAnswerSchema), ...errors },
      },
    },
    // Not an `async` function, whose promise and all that waits for it would be kept for as long as a stream lasts.
    (request, reply) => {
      const taken = takeChat(parts, request, reply);
      if (taken instanceof Promise) taken.catch((error: unknown) => refuse(reply, error));
    },
  );
}

/** Answers a call from what is kept, or starts it. Throws what is wrong with it. */
function takeChat(parts: ChatRouteParts, request: FastifyRequest, reply: FastifyReply): Soon<void> {
  const incoming = describeIncoming(request);
  const { keyed } = incoming;
  if (keyed === null) return admitAndStart(parts, incoming, { request, reply });
  return recallChat(parts, incoming, keyed).then((kept) =>
    kept === null ? admitAndStart(parts, incoming, { request, reply }) : replay(reply, kept),
  );
}

function admitAndStart(
  parts: ChatRouteParts,
  incoming: IncomingChat,
  { request, reply }: Pick<Call, "request" | "reply">,
): Soon<void> {
  const chat = checkChat(parts, incoming);
  reply.headers(chat.headers);
  // Most calls are admitted at once, and then nobody waits a turn for it.
  return whenHere(admitChat(parts, chat, request.limits ?? undefined), (admission) => {
    if (admission.kind === "answered") return replay(reply, admission.answer);
    request.limits = admission.limits;
    const call = { request, reply, chat, claim: admission.claim };
    if (chat.request.stream === true) new StreamedAnswer(parts, call).start();
    else sendAnswer(parts, call);
  });
}

/** As the framework does it with an error that a route throws. */
function refuse(reply: FastifyReply, error: unknown): void {
  if (!reply.sent) reply.send(error);
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

function replay(reply: FastifyReply, { status, contentType, body, summary }: KeptAnswer): void {
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
  reply.code(status).type(contentType).send(body);
}

/** One call, as its route sees it. */
type Call = {
  request: FastifyRequest;
  reply: FastifyReply;
  chat: CheckedChat;
  claim: Claim | null;
};

function createCallEnvelope({ clock }: ChatRouteParts, { request, chat }: Call): ChatEnvelope {
  return createEnvelope(request.id, chat.model.id, clock.now());
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

/** What the log says of a call's end: in the line of its request, or, where that has been written, in one of its own. */
function noteEnd(parts: ChatRouteParts, { request, chat }: Call, end: ChatEnd): void {
  const fields = describeEnd(chat, end);
  request.logFields = fields;
  if (!end.hasHungUp) return;
  const { accountId, keyId } = chat.caller;
  parts.onHungUp({ request_id: request.id, account_id: accountId, key_id: keyId, ...fields });
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

function sendAnswer(parts: ChatRouteParts, call: Call): void {
  const { chat, claim, reply } = call;
  const envelope = createCallEnvelope(parts, call);
  const present = ({ choices, usage, stoppedBy }: Omit<ChatEnd, "settlement">, { charge }: Settlement): string =>
    presentCompletion(envelope, { choices: choices ?? "[]", usage, charge, stoppedBy });
  const conclude =
    claim &&
    createKeptConclusion(parts, claim, {
      completionId: envelope.id,
      present: (end, settlement) => ({ contentType: jsonType, body: present(end, settlement) }),
    });
  const running = startChat(parts, chat, { listener: null, conclude });
  followCall(parts, call, running)
    .then((end) => {
      noteEnd(parts, call, end);
      if (end.hasHungUp) return;
      const body = present(end, end.settlement);
      const { response, headers } = takeOver(reply, { clock: parts.clock, answer: "whole" });
      headers["content-type"] = jsonType;
      headers["content-length"] = Buffer.byteLength(body);
      response.writeHead(200, headers).end(body);
    })
    .catch((error: unknown) => refuse(reply, error));
}

/** An answer that is sent while it comes. A class, because it is kept for as long as that takes. */
class StreamedAnswer implements ChatListener {
  private readonly parts: ChatRouteParts;
  private readonly call: Call;
  private readonly writer: ChunkWriter;
  private readonly recorder: Recorder | null;
  private running: RunningChat | null = null;
  private stream: EventStream | null = null;

  constructor(parts: ChatRouteParts, call: Call) {
    const includesUsage = call.chat.request.stream_options?.include_usage === true;
    this.parts = parts;
    this.call = call;
    this.writer = createChunkWriter(createCallEnvelope(parts, call), { includesUsage });
    this.recorder = call.claim === null ? null : createRecorder();
  }

  start(): void {
    const { parts, call } = this;
    const running = startChat(parts, call.chat, { listener: this, conclude: this.createConclusion() });
    this.running = running;
    followCall(parts, call, running)
      .then((end) => this.finish(end))
      .catch((error: unknown) => this.fail(error));
  }

  onAccepted(): void {
    this.open();
  }

  onPieces(pieces: readonly ChatPiece[], stoppedBy: StoppedBy | null): boolean {
    let events = "";
    for (const { choices } of pieces) events += this.writer.present(choices, stoppedBy);
    this.recorder?.add(events);
    return this.open().write(events);
  }

  private open(): EventStream {
    if (this.stream !== null) return this.stream;
    const { clock, heartbeats } = this.parts;
    const { response, headers } = takeOver(this.call.reply, { clock, answer: "going-on" });
    const onDrain = (): void => this.running?.resume();
    this.stream = openEventStream(response, { access: "admitted", headers, heartbeats, onDrain });
    return this.stream;
  }

  /** Of a call with a key, the stream is kept as well. */
  private createConclusion(): ConcludeChat | null {
    const { claim } = this.call;
    if (claim === null) return null;
    return createKeptConclusion(this.parts, claim, {
      completionId: createCallEnvelope(this.parts, this.call).id,
      present: (end, settlement) => {
        this.recorder?.add(this.presentTail(end, settlement));
        return { contentType: streamType, body: this.recorder?.join() ?? null };
      },
    });
  }

  private finish(end: ChatEnd): void {
    noteEnd(this.parts, this.call, end);
    if (end.hasHungUp) this.stream?.end("");
    else this.open().end(this.presentTail(end, end.settlement));
  }

  private fail(error: unknown): void {
    if (this.stream === null) refuse(this.call.reply, error);
    else this.stream.end(this.presentFailure(error));
  }

  private presentTail({ usage, failure }: Omit<ChatEnd, "settlement">, { charge }: Settlement): string {
    return failure === null ? this.writer.presentUsage(usage, charge) + streamEnd : this.presentFailure(failure);
  }

  private presentFailure(error: unknown): string {
    const { request } = this.call;
    const appError = toAppError(error, request);
    request.failure = appError;
    return `data: ${JSON.stringify(presentError(appError, request.id).body)}\n\n`;
  }
}
