import type { ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import type { Clock } from "../../lib/clock.ts";
import { toAppError } from "./error-response.ts";
import { type EventStream, type Heartbeats, openEventStream } from "./event-stream.ts";
import { addLimitHeaders } from "./limit-headers.ts";

type AnswerHeaders = Record<string, number | string | string[] | undefined>;

type HijackedReply = {
  response: ServerResponse;
  /** The reply's headers so far, the rate limit headers and the given ones. */
  headers: AnswerHeaders;
};

type AnswerOptions = {
  clock: Clock;
  answer: "whole" | "going-on";
  headers?: AnswerHeaders;
};

/**
 * Hijacks the reply from Fastify, for streams and for the hot path. `onSend` hooks no longer run, so their headers are
 * added here. Write to `response` or through `openEventStream`; both omit the body of HEAD responses.
 */
export function hijackReply(reply: FastifyReply, { clock, answer, headers }: AnswerOptions): HijackedReply {
  const { request } = reply;
  const { limits } = request;
  reply.hijack();
  request.respondedMs = clock.monotonicMs();
  // Free them now: a stream may last long.
  request.limits = null;
  // Its own copy.
  const all: AnswerHeaders = reply.getHeaders();
  if (limits !== null) addLimitHeaders(all, limits, answer);
  if (headers !== undefined) Object.assign(all, headers);
  return { response: reply.raw, headers: all };
}

type EventsOptions = { clock: Clock; heartbeats: Heartbeats; headers?: AnswerHeaders; onDrain?(): void };

/**
 * Responds with an event stream that `follow` writes and ends, while the caller has access. If `follow` throws, the
 * connection is destroyed. HEAD does not call it, because following may have side effects. Throws before the head is sent
 * if the caller has too many open streams.
 */
export async function sendEvents(
  reply: FastifyReply,
  { clock, heartbeats, headers: more = {}, onDrain = () => {} }: EventsOptions,
  follow: (stream: EventStream) => Promise<void>,
): Promise<FastifyReply> {
  const access = reply.request.watchAccess;
  const leave = await reply.request.enterStream();
  // A closed connection emits no further `close`.
  if (reply.raw.destroyed) leave();
  else reply.raw.once("close", leave);
  const { response, headers } = hijackReply(reply, { clock, answer: "going-on", headers: more });
  const stream = openEventStream(response, { access, headers, heartbeats, onDrain });
  if (reply.request.method === "HEAD") stream.end("");
  else await follow(stream).catch((error: unknown) => breakOff(reply, error));
  return reply;
}

/** Destroys the connection of a response that failed after its head: the only way to signal it. */
export function breakOff(reply: FastifyReply, error: unknown): void {
  reply.request.failure ??= toAppError(error, reply.request);
  // Writes of this tick are flushed first.
  process.nextTick(() => reply.raw.destroy());
}
