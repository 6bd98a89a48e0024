import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../../lib/caller.ts";
import { presentMoney } from "../../lib/money.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { type ByteStream, openByteStream } from "../../platform/http/byte-stream.ts";
import { presentErrorTo, toAppError } from "../../platform/http/error-response.ts";
import {
  type EventStream,
  eventStreamHeaders,
  type Heartbeats,
  openEventStream,
} from "../../platform/http/event-stream.ts";
import { breakOff, hijackReply } from "../../platform/http/hijack-reply.ts";
import { closeFacts, createFacts, getCaller } from "../../platform/http/request-context.ts";
import {
  type Claim,
  fingerprintRequest,
  type KeptAnswer,
  keptBytesMax,
  parseIdempotencyKey,
} from "../idempotency/index.ts";
import type { Quotes } from "../quotes/index.ts";
import type { KeyedRequest } from "./admit-call.ts";
import { createRecorder, type Recorder } from "./answer-recorder.ts";
import type { CallAudience, CallContext, CallListener } from "./call-context.ts";
import type { CallEnd, CallKinds, CallPlan, StoppedBy } from "./paid-endpoint.ts";
import { planQuoted, type QuotedRoute } from "./quoted-call.ts";
import { describeCall, noteFacts, noteRouting } from "./record-call.ts";
import { PaidCall } from "./run-call.ts";

export type IncomingCall = {
  caller: Caller;
  body: unknown;
  bodyBytes: number;
  requestId: string;
  /** The client's id of the conversation, from one of `sessionHeaders`. */
  session?: string | null;
};

/** The headers that agents use. */
const sessionHeaders = [
  "x-session-id",
  "x-session-affinity",
  "session-id",
  "session_id",
  "x-claude-code-session-id",
] as const;

export type PaidRoute<K extends CallKinds> = Omit<QuotedRoute, "path"> & {
  /** Part of the idempotency fingerprint, beside the body. */
  path: string;
  /** Validates and prices the call without side effects. Throws the caller's error. */
  prepare(incoming: IncomingCall): CallPlan<K>;
  /** Stores what must be durable before the response ends, beside the charge. Never throws. */
  conclude?(end: CallEnd<K>): Promise<void>;
  /** Replays a response that the same path stored in another form; `false` if it did not. */
  replay?(kept: KeptAnswer, reply: FastifyReply): Promise<boolean>;
  /** Called once, when the call has ended or will never start, for clean-up. */
  onOver?(): void;
};

export type AnswerContext = CallContext & { heartbeats: Heartbeats; quotes: Pick<Quotes, "open"> };

const jsonType = "application/json; charset=utf-8";
/** The assumed size of a whole response, or of a stream's tail, before it is written. */
const wholeBytesUsual = 4096;

/** Replays a stored response or runs the call. Never throws: errors become the response. */
export function answerCall<K extends CallKinds>(
  context: AnswerContext,
  route: PaidRoute<K>,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const taken = takeCall(context, route, request, reply);
  taken.catch((error: unknown) => refuse(reply, error));
  const { onOver } = route;
  if (onOver === undefined) return;
  taken
    .then((call) => call?.ended)
    .then(onOver, onOver)
    .catch((error: unknown) => context.logger.error({ error }, "clean-up after a call failed"));
}

/**
 * A stored response is replayed even if the request would be rejected today, such as for a model that is gone. A valid
 * request finds its stored response when it claims its key.
 */
async function takeCall<K extends CallKinds>(
  context: AnswerContext,
  route: PaidRoute<K>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<PaidCall<K> | null> {
  const keyed = readKey(request, route.path);
  let plan: CallPlan<K>;
  try {
    // Calls without a quote pay for one lookup.
    const isQuoted = request.headers["x-quote-id"] !== undefined;
    plan = isQuoted
      ? planQuoted(context.quotes, request, route, () => ({ plan: prepare(route, request) })).plan
      : prepare(route, request);
  } catch (error) {
    if (keyed !== null && (await replayKept(context, route, { request, reply, keyed }))) return null;
    throw error;
  }
  request.rawBody = null;
  const call = new PaidCall(context, plan, request.span);
  const facts = createFacts({ model: plan.modelId });
  request.facts = facts;
  const admission = await call.admit(keyed, request.limits ?? undefined);
  if (admission.kind === "answered") {
    await replayAnswer(route, reply, admission.answer);
    return null;
  }
  reply.headers(plan.headers);
  request.limits = admission.limits;
  request.logFields = { model: plan.modelId };
  facts.isOpen = true;
  new CallAnswer(context, call, { request, reply, claim: admission.claim, route }).start();
  return call;
}

function prepare<K extends CallKinds>(route: PaidRoute<K>, request: FastifyRequest): CallPlan<K> {
  const { body, bodyBytes, id: requestId } = request;
  return route.prepare({ caller: getCaller(request), body, bodyBytes, requestId, session: findSession(request) });
}

function findSession({ headers }: FastifyRequest): string | null {
  for (const name of sessionHeaders) {
    const value = headers[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}

/** Sends the stored response of the request's idempotency key; `false` if there is none. */
export async function replayCall<K extends CallKinds>(
  context: AnswerContext,
  route: PaidRoute<K>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<boolean> {
  const keyed = readKey(request, route.path);
  return keyed !== null && (await replayKept(context, route, { request, reply, keyed }));
}

type Edge = { request: FastifyRequest; reply: FastifyReply };

async function replayKept<K extends CallKinds>(
  context: AnswerContext,
  route: PaidRoute<K>,
  { request, reply, keyed }: Edge & { keyed: KeyedRequest },
): Promise<boolean> {
  const { accountId } = getCaller(request);
  const kept = await context.claims.recall({ accountId, ...keyed });
  if (kept === null) return false;
  await replayAnswer(route, reply, kept);
  return true;
}

/** The request's idempotency key and fingerprint. */
export function readKey({ headers, rawBody }: FastifyRequest, path: string): KeyedRequest | null {
  const key = parseIdempotencyKey(headers["idempotency-key"]);
  return key === null || rawBody === null ? null : { key, fingerprint: fingerprintRequest(path, rawBody) };
}

/** Sends the error as the framework would; aborts a response that has already started. */
function refuse(reply: FastifyReply, error: unknown): void {
  closeFacts(reply.request.facts);
  if (!reply.sent) reply.send(error);
  else if (!reply.raw.writableEnded) breakOff(reply, error);
}

async function replayAnswer<K extends CallKinds>(
  route: PaidRoute<K>,
  reply: FastifyReply,
  kept: KeptAnswer,
): Promise<void> {
  const { status, contentType, body, summary } = kept;
  reply.header("idempotent-replayed", "true");
  if (body === null) {
    const message = `This request was already answered. The response was too large to store. ${summary}`;
    throw new AppError("already_completed", message, { param: "Idempotency-Key" });
  }
  if ((await route.replay?.(kept, reply)) === true) return;
  if (status >= 500) reply.header("x-should-retry", "false");
  if (contentType === eventStreamHeaders["content-type"]) reply.headers(eventStreamHeaders);
  reply.code(status).type(contentType).send(body);
}

function describeKeptError(error: unknown, request: FastifyRequest, summary: string): KeptAnswer {
  const { status, body } = presentErrorTo(request, toAppError(error, request));
  return { status, contentType: jsonType, body: Buffer.from(JSON.stringify(body)), summary };
}

async function concludeFirst<K extends CallKinds>(
  ended: Promise<CallEnd<K>>,
  conclude: (end: CallEnd<K>) => Promise<void> | undefined,
): Promise<CallEnd<K>> {
  const end = await ended;
  await conclude(end);
  return end;
}

type Answered<K extends CallKinds> = Edge & { claim: Claim | null; route: PaidRoute<K> };

/** Where a streamed response is written. A whole response and an early error need no outlet. */
type Outlet = { kind: "unopened" } | { kind: "events"; stream: EventStream } | { kind: "bytes"; stream: ByteStream };

const unopened: Outlet = { kind: "unopened" };

/** Writes the response of one call to its caller's connection. */
class CallAnswer<K extends CallKinds> implements CallListener<K> {
  private readonly context: AnswerContext;
  private readonly call: PaidCall<K>;
  private readonly request: FastifyRequest;
  private readonly reply: FastifyReply;
  private readonly route: PaidRoute<K>;
  /** For a call with an idempotency key: its claim, and the response so far. */
  private readonly keeping: { claim: Claim; recorder: Recorder } | null;
  private outlet: Outlet = unopened;
  private progress: "waiting" | "streaming" = "waiting";

  constructor(context: AnswerContext, call: PaidCall<K>, { request, reply, claim, route }: Answered<K>) {
    this.context = context;
    this.call = call;
    this.request = request;
    this.reply = reply;
    this.route = route;
    this.keeping = claim && { claim, recorder: createRecorder() };
  }

  start(): void {
    const { call, keeping, reply, route } = this;
    call.start(this.describeAudience());
    let { ended } = call;
    if (route.conclude !== undefined) ended = concludeFirst(ended, (end) => route.conclude?.(end));
    if (keeping === null) {
      reply.raw.on("close", () => {
        if (!reply.raw.writableFinished) call.hangUp();
      });
      // The caller may have hung up during admission.
      if (reply.raw.destroyed) call.hangUp();
    } else {
      // The response is stored for a retry, so the call runs on without its caller.
      reply.raw.on("close", () => call.resume());
      const { claims, logger } = this.context;
      const onTrouble = (error: unknown): void => logger.warn({ error }, "idempotency claim not renewed");
      ended = ended.finally(claims.renew(keeping.claim, onTrouble));
    }
    ended.then(
      (end) => this.conclude(end),
      (error: unknown) => this.failSafely(error),
    );
  }

  private conclude(end: CallEnd<K>): void {
    try {
      this.finish(end);
    } catch (error) {
      this.failSafely(error);
    }
  }

  /** If sending the error fails too, aborts the response. */
  private failSafely(error: unknown): void {
    try {
      this.fail(error);
    } catch (cause) {
      breakOff(this.reply, cause);
    }
  }

  private describeAudience(): CallAudience<K> {
    const { keeping } = this;
    return {
      listener: this.call.plan.presenter.form === "whole" ? null : this,
      kept: keeping && {
        claim: keeping.claim,
        bytes: () => wholeBytesUsual + keeping.recorder.countBytes(),
        describe: (end) => this.describeKept(end, keeping.recorder),
        describeFault: (failure) =>
          describeKeptError(failure, this.request, "The call was charged but could not be answered."),
      },
    };
  }

  onAccepted(): void {
    // An event stream's head is sent early; a byte stream's head waits for the first bytes.
    if (this.call.plan.presenter.form === "events") this.openEvents();
  }

  onPieces(deltas: readonly K["delta"][]): boolean {
    if (this.progress === "waiting") this.noteFirstPiece();
    return this.write(this.call.plan.presenter.presentPieces(deltas));
  }

  private noteFirstPiece(): void {
    this.progress = "streaming";
    const { context, request, call } = this;
    const waitedMs = context.clock.monotonicMs() - request.startedMs;
    if (request.facts !== null) request.facts.firstTokenMs = waitedMs;
    context.metrics.timeToFirstToken.at(request.routeOptions.url ?? "none", call.plan.modelId).add(waitedMs / 1000);
  }

  onCut(stoppedBy: StoppedBy | null): void {
    this.write(this.call.plan.presenter.presentCut(stoppedBy));
  }

  private write(data: string | Uint8Array): boolean {
    this.keeping?.recorder.add(data);
    return typeof data === "string" ? this.openEvents().write(data) : this.openBytes().write(data);
  }

  private openEvents(): EventStream {
    if (this.outlet.kind === "events") return this.outlet.stream;
    const { clock, heartbeats } = this.context;
    const { response, headers } = hijackReply(this.reply, { clock, answer: "going-on" });
    const onDrain = (): void => this.call.resume();
    const stream = openEventStream(response, { access: "admitted", headers, heartbeats, onDrain });
    this.outlet = { kind: "events", stream };
    return stream;
  }

  private openBytes(): ByteStream {
    if (this.outlet.kind === "bytes") return this.outlet.stream;
    const headers = { "content-type": this.call.plan.presenter.contentType };
    const taken = hijackReply(this.reply, { clock: this.context.clock, answer: "going-on", headers });
    const stream = openByteStream(taken.response, { headers: taken.headers, onDrain: () => this.call.resume() });
    this.outlet = { kind: "bytes", stream };
    return stream;
  }

  private endStream(last: string): void {
    const { outlet } = this;
    if (outlet.kind === "events") outlet.stream.end(last);
    else if (outlet.kind === "bytes") outlet.stream.end();
  }

  private finish(end: CallEnd<K>): void {
    this.noteEnd(end);
    const { presenter } = this.call.plan;
    if (end.hasHungUp) this.endStream("");
    else if (end.failure !== null) this.fail(end.failure);
    else if (presenter.form === "whole") this.sendWhole(end);
    else {
      if (presenter.form === "events") this.openEvents();
      this.endStream(presenter.presentTail(end));
    }
  }

  private sendWhole(end: CallEnd<K>): void {
    const body = this.call.plan.presenter.presentWhole(end);
    const { response, headers } = hijackReply(this.reply, { clock: this.context.clock, answer: "whole" });
    headers["content-type"] = this.call.plan.presenter.contentType;
    headers["content-length"] = Buffer.byteLength(body);
    response.writeHead(200, headers).end(body);
  }

  private fail(error: unknown): void {
    noteRouting(this.request.facts, this.call);
    this.request.logFields = { ...this.request.logFields, ...this.describeRouting() };
    closeFacts(this.request.facts);
    if (this.outlet.kind === "unopened") {
      refuse(this.reply, error);
      return;
    }
    const last = this.presentFailure(error);
    if (last === null) breakOff(this.reply, error);
    else this.endStream(last);
  }

  private presentFailure(error: unknown): string | null {
    const failure = toAppError(error, this.request);
    this.request.failure = failure;
    return this.call.plan.presenter.presentFailure(presentErrorTo(this.request, failure).body);
  }

  private describeKept(end: CallEnd<K>, recorder: Recorder): KeptAnswer {
    const { presenter } = this.call.plan;
    const summary = presenter.summarize(end);
    if (presenter.form === "whole") {
      const text = presenter.presentWhole(end);
      // A string has at least as many bytes as characters, so skip encoding one that is too long already.
      const bytes = text.length > keptBytesMax ? null : Buffer.from(text);
      const body = bytes === null || bytes.length > keptBytesMax ? null : bytes;
      return { status: 200, contentType: presenter.contentType, body, summary };
    }
    const tail = end.failure === null ? presenter.presentTail(end) : this.presentFailure(end.failure);
    if (tail === null) return describeKeptError(end.failure, this.request, summary);
    return { status: 200, contentType: presenter.contentType, body: recorder.join(tail), summary };
  }

  private describeRouting(): Record<string, unknown> {
    const { target, failedAttempts } = this.call.routed;
    if (target === null) return {};
    const place = { upstream: target.providerId, upstream_model: target.upstreamModel };
    return failedAttempts.length === 0 ? place : { ...place, failed_attempts: failedAttempts.length };
  }

  /** Adds the call's end to the request's log line; after a hang-up that line is written, so logs a line of its own. */
  private noteEnd(end: CallEnd<K>): void {
    const { usage, settlement, stoppedBy } = end;
    const { modelId, presenter } = this.call.plan;
    const fields: Record<string, unknown> = { model: modelId, stream: presenter.form !== "whole" };
    Object.assign(fields, this.call.plan.describeUsage(usage));
    fields.charge = presentMoney(settlement.charge);
    if (settlement.lost !== 0n) fields.lost = presentMoney(settlement.lost);
    Object.assign(fields, this.describeRouting());
    if (end.hasHungUp) fields.hung_up = true;
    if (stoppedBy !== null) fields.stopped_by = stoppedBy;
    this.request.logFields = fields;
    noteFacts(this.request.facts, this.call, end);
    if (!end.hasHungUp) return;
    const settled = { ...describeCall(this.call.plan), ...fields };
    this.context.logger.info(settled, "call settled after the client closed the connection");
  }
}
