import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../../lib/caller.ts";
import { presentMoney } from "../../lib/money.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { type ByteStream, openByteStream } from "../../platform/http/byte-stream.ts";
import { presentError, presentErrorTo, toAppError } from "../../platform/http/error-response.ts";
import {
  type EventStream,
  eventStreamHeaders,
  type Heartbeats,
  openEventStream,
} from "../../platform/http/event-stream.ts";
import { closeFacts, createFacts, getCaller } from "../../platform/http/request-context.ts";
import { breakOff, takeOver } from "../../platform/http/take-over.ts";
import {
  type Claim,
  fingerprintRequest,
  type KeptAnswer,
  keptBytesMax,
  parseIdempotencyKey,
} from "../idempotency/index.ts";
import type { KeyedRequest } from "./admit-call.ts";
import { createRecorder, type Recorder } from "./answer-recorder.ts";
import { noteFacts, noteRouting } from "./note-facts.ts";
import type { CallEnd, CallKinds, CallPlan, StoppedBy } from "./paid-endpoint.ts";
import { type CallAudience, type CallContext, type CallListener, PaidCall } from "./run-call.ts";

/** A request to a paid endpoint as it comes from the edge. */
export type IncomingCall = {
  caller: Caller;
  body: unknown;
  bodyBytes: number;
  requestId: string;
  /** What the client calls the conversation that it belongs to, where it tells in a header. */
  session?: string | null;
};

/** By the names that agents have for it. */
const sessionHeaders = [
  "x-session-id",
  "x-session-affinity",
  "session-id",
  "session_id",
  "x-claude-code-session-id",
] as const;

/** A route that answers by one paid call. */
export type PaidRoute<K extends CallKinds> = {
  /** What makes two requests the same, beside their bytes. */
  path: string;
  /** Everything about a call that can be known before anything happens. Throws what is wrong with it. */
  prepare(incoming: IncomingCall): CallPlan<K>;
  /** What has to be durable before the answer ends, beside the charge. Never throws. */
  conclude?(end: CallEnd<K>): Promise<void>;
  /** Answers with what another way of the same path has kept; says whether it has. */
  replay?(kept: KeptAnswer, reply: FastifyReply): Promise<boolean>;
  /** Told once, when the call is over or will never begin: what was kept for it may go. */
  onOver?(): void;
};

export type AnswerContext = CallContext & { heartbeats: Heartbeats };

const jsonType = "application/json; charset=utf-8";
/** What is reckoned for an answer, or the end of one, before it is written. */
const wholeBytesUsual = 4096;

/** Answers a request from what is kept, or runs it. Never throws: every error is the answer's. */
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
 * What was answered to the same request is answered again, whatever would be said to it now: what was done is done. A
 * request that is still good meets its key when it is claimed.
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
    plan = prepare(route, request);
  } catch (error) {
    if (keyed !== null && (await replayKept(context, route, { request, reply, keyed }))) return null;
    throw error;
  }
  return await admitAndRun(context, route, { request, reply, keyed, plan });
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

/** Answers a request with what the same one was answered before; says whether there was something. */
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

function readKey({ headers, rawBody }: FastifyRequest, path: string): KeyedRequest | null {
  const key = parseIdempotencyKey(headers["idempotency-key"]);
  return key === null || rawBody === null ? null : { key, fingerprint: fingerprintRequest(path, rawBody) };
}

async function admitAndRun<K extends CallKinds>(
  context: AnswerContext,
  route: PaidRoute<K>,
  { request, reply, keyed, plan }: Edge & { keyed: KeyedRequest | null; plan: CallPlan<K> },
): Promise<PaidCall<K> | null> {
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

/** As the framework does it with an error that a route throws; an answer that has begun is broken off. */
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
    const message = `This request was answered already, at too great a length to keep. ${summary}`;
    throw new AppError("already_completed", message, { param: "Idempotency-Key" });
  }
  if ((await route.replay?.(kept, reply)) === true) return;
  if (status >= 500) reply.header("x-should-retry", "false");
  if (contentType === eventStreamHeaders["content-type"]) reply.headers(eventStreamHeaders);
  reply.code(status).type(contentType).send(body);
}

function describeKeptError(error: unknown, request: FastifyRequest, summary: string): KeptAnswer {
  const { status, body } = presentError(toAppError(error, request), request.id);
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

/** Where the answer of a call is written. A whole answer and an early error need no outlet. */
type Outlet = { kind: "unopened" } | { kind: "events"; stream: EventStream } | { kind: "bytes"; stream: ByteStream };

const unopened: Outlet = { kind: "unopened" };

/** The answer to one call, as long as its caller's connection lasts. */
class CallAnswer<K extends CallKinds> implements CallListener<K> {
  private readonly context: AnswerContext;
  private readonly call: PaidCall<K>;
  private readonly request: FastifyRequest;
  private readonly reply: FastifyReply;
  private readonly route: PaidRoute<K>;
  /** For a call with an idempotency key: its claim, and what was written so far. */
  private readonly keeping: { claim: Claim; recorder: Recorder } | null;
  private outlet: Outlet = unopened;
  private progress: "silent" | "speaking" = "silent";

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
      // The caller may have gone while the call was being admitted.
      if (reply.raw.destroyed) call.hangUp();
    } else {
      // The answer is kept for the same request sent again, and nobody has to read it for that.
      reply.raw.on("close", () => call.resume());
      const { claims, logger } = this.context;
      const onTrouble = (error: unknown): void => logger.warn({ error }, "the claim of a key could not be renewed");
      ended = ended.finally(claims.renew(keeping.claim, onTrouble));
    }
    ended
      .then((end) => this.finish(end))
      .catch((error: unknown) => this.fail(error))
      // Whatever goes wrong in telling an error must not leave the answer open.
      .catch((error: unknown) => breakOff(reply, error));
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
          describeKeptError(failure, this.request, "It was charged and could not be answered."),
      },
    };
  }

  onAccepted(): void {
    // The head of events tells nothing yet; that of bytes says that there are some.
    if (this.call.plan.presenter.form === "events") this.openEvents();
  }

  onPieces(deltas: readonly K["delta"][]): boolean {
    if (this.progress === "silent") this.noteFirstPiece();
    return this.write(this.call.plan.presenter.presentPieces(deltas));
  }

  private noteFirstPiece(): void {
    this.progress = "speaking";
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
    const { response, headers } = takeOver(this.reply, { clock, answer: "going-on" });
    const onDrain = (): void => this.call.resume();
    const stream = openEventStream(response, { access: "admitted", headers, heartbeats, onDrain });
    this.outlet = { kind: "events", stream };
    return stream;
  }

  private openBytes(): ByteStream {
    if (this.outlet.kind === "bytes") return this.outlet.stream;
    const headers = { "content-type": this.call.plan.presenter.contentType };
    const taken = takeOver(this.reply, { clock: this.context.clock, answer: "going-on", headers });
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
    const { response, headers } = takeOver(this.reply, { clock: this.context.clock, answer: "whole" });
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
      // It has at least as many bytes as characters: what is too long by these is not written once more to see that.
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

  /** What the log says of a call's end: in the line of its request, or, where that has been written, in one of its own. */
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
    this.context.logger.info({ ...this.call.describe(), ...fields }, "a call was settled after its caller hung up");
  }
}
