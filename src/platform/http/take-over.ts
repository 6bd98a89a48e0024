import type { ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import type { Clock } from "../../lib/clock.ts";
import { toAppError } from "./error-response.ts";
import { type EventStream, type Heartbeats, openEventStream } from "./event-stream.ts";
import { presentLimitHeaders } from "./limit-headers.ts";

type AnswerHeaders = Record<string, number | string | string[] | undefined>;

type TakenOver = {
  response: ServerResponse;
  /** Those that the reply has so far, those that tell of the limits, and the given ones. */
  headers: AnswerHeaders;
};

type AnswerOptions = {
  clock: Clock;
  /** Whether its end is known when its head is sent. */
  answer: "whole" | "going-on";
  headers?: AnswerHeaders;
};

/**
 * The only door past the framework, whose way of sending an answer is felt, or which would wait for its end. No hook sees
 * the answer any more, so what hooks add is added here. It is written to `response`, which leaves the body of an answer
 * to HEAD out by itself, or as events by `openEventStream`, which does so too.
 */
export function takeOver(reply: FastifyReply, { clock, answer, headers }: AnswerOptions): TakenOver {
  const { request } = reply;
  const { limits } = request;
  reply.hijack();
  request.respondedMs = clock.monotonicMs();
  // They are told now, and a stream may last long.
  request.limits = null;
  const told = limits && presentLimitHeaders(limits, answer);
  return { response: reply.raw, headers: { ...reply.getHeaders(), ...told, ...headers } };
}

type EventsOptions = { clock: Clock; heartbeats: Heartbeats; headers?: AnswerHeaders; onDrain?(): void };

/**
 * Answers with a stream of events, which `follow` writes and ends, for as long as whoever asked may read it. When it throws,
 * the connection is broken: else the answer would stay open, with nobody left to write to it. For HEAD it is not called:
 * there is nothing to be followed, and whoever follows may take something away from those who read. Throws before the head
 * is sent where the caller has as many streams open as it may.
 */
export async function sendEvents(
  reply: FastifyReply,
  { clock, heartbeats, headers: more = {}, onDrain = () => {} }: EventsOptions,
  follow: (stream: EventStream) => Promise<void>,
): Promise<FastifyReply> {
  const access = reply.request.watchAccess;
  const leave = await reply.request.enterStream();
  // Whoever is gone by now is not heard of again.
  if (reply.raw.destroyed) leave();
  else reply.raw.once("close", leave);
  const { response, headers } = takeOver(reply, { clock, answer: "going-on", headers: more });
  const stream = openEventStream(response, { access, headers, heartbeats, onDrain });
  if (reply.request.method === "HEAD") stream.end("");
  else await follow(stream).catch((error: unknown) => breakOff(reply, error));
  return reply;
}

/** Ends an answer whose head is out and whose rest cannot be given: a connection that breaks is how a client hears of it. */
export function breakOff(reply: FastifyReply, error: unknown): void {
  reply.request.failure ??= toAppError(error, reply.request);
  // What was written in this turn is sent in the next tick, before the end.
  process.nextTick(() => reply.raw.destroy());
}
