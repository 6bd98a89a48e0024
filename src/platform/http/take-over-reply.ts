import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../lib/clock.ts";
import { presentLimitHeaders } from "./limit-headers.ts";

type TakenHeaders = Record<string, number | string | string[] | undefined>;

/**
 * Takes an answer out of the framework's hands, whose way of sending it is felt, or which would wait for its end. No hook
 * sees it any more, so here are the headers that it has, those that tell of the limits among them.
 */
export function takeOverReply(
  { request, reply, answer }: { request: FastifyRequest; reply: FastifyReply; answer: "whole" | "going-on" },
  clock: Clock,
): TakenHeaders {
  const { limits } = request;
  reply.hijack();
  request.respondedMs = clock.monotonicMs();
  // They are told now, and a stream may last long.
  request.limits = null;
  return { ...reply.getHeaders(), ...(limits && presentLimitHeaders(limits, answer)) };
}
