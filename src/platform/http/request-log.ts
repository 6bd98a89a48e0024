import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../lib/clock.ts";
import { AppError } from "../errors/app-error.ts";
import { getErrorEntry } from "../errors/error-table.ts";
import type { Logger } from "../observability/logger.ts";
import type { EndpointName } from "./endpoint-table.ts";
import { findOpenReply, noteOpenReply } from "./request-context.ts";
import type { RequestMeter } from "./request-meter.ts";
import { endRequestSpan } from "./trace-request.ts";

const pathCharactersMax = 200;

/** A request of which all is known. */
export type EndedRequest = {
  reply: FastifyReply;
  /** As it is written in the code, and the endpoint of the table that it is; `null` where the path leads nowhere. */
  route: string | null;
  endpoint: EndpointName | null;
  durationMs: number;
  /** The client left before the answer was whole. */
  isAborted: boolean;
  /** Of the error that it was answered with, or broke off with. */
  code: string | null;
  /** It was told of before, when less was known. */
  isToldAgain: boolean;
};

export type RequestLogOptions = {
  clock: Clock;
  logger: Logger;
  meter: RequestMeter;
  onEnded: ((ended: EndedRequest) => void) | null;
};

/**
 * One line for the request, written when its connection is done with it, however it ended. Also for a request that the
 * framework refuses before any hook has seen it.
 */
export function logRequest(request: FastifyRequest, reply: FastifyReply, options: RequestLogOptions): void {
  request.startedMs = options.clock.monotonicMs();
  options.meter.begin();
  const { socket } = request.raw;
  noteOpenReply(socket, reply);
  // Node emits it once; `once` would make two more objects of it.
  reply.raw.on("close", () => {
    // The next request may have come before this one was answered.
    if (findOpenReply(socket) === reply) noteOpenReply(socket, null);
    if (reply.request.span !== null) endRequestSpan(reply.request.span, reply);
    writeLine(reply, options);
  });
}

function writeLine(reply: FastifyReply, options: RequestLogOptions): void {
  const { request, raw, statusCode } = reply;
  const { caller, startedMs, respondedMs, logFields, failure } = request;
  const { url, config } = request.routeOptions;
  const route = url ?? null;
  const level = decideLevel(failure, statusCode);
  const durationMs = options.clock.monotonicMs() - startedMs;
  const code = failure instanceof AppError ? presentCode(failure) : null;
  options.meter.end({ method: request.method, route, statusCode, isAborted: !raw.writableFinished, code, durationMs });
  // What a usual line has comes first and at once: a field that is added later makes the object anew.
  const fields: Record<string, unknown> = {
    request_id: request.id,
    method: request.method,
    route,
    status: statusCode,
    duration_ms: round(durationMs),
    first_byte_ms: respondedMs === null ? undefined : round(respondedMs - startedMs),
    account_id: caller?.accountId,
    key_id: caller?.keyId,
  };
  // A path without a route is what an operator wants to see; its query may hold secrets.
  if (route === null) fields.path = request.url.split("?", 1)[0]?.slice(0, pathCharactersMax);
  if (!raw.writableFinished) fields.aborted = true;
  if (request.clientRequestId !== null) fields.client_request_id = request.clientRequestId;
  if (request.span !== null) fields.trace_id = request.span.traceId;
  if (logFields !== null) Object.assign(fields, logFields);
  // A caller's mistake is told by its code alone, because messages about it may quote what the caller sent.
  if (code !== null)
    Object.assign(fields, level === "info" ? { error_code: code } : { error_code: code, error: failure });
  options.logger[level](fields, "request");
  const { onEnded } = options;
  if (onEnded === null) return;
  const isAborted = !raw.writableFinished;
  const tell = (isToldAgain: boolean): void => {
    const known = request.failure instanceof AppError ? presentCode(request.failure) : null;
    onEnded({ reply, route, endpoint: config.endpoint ?? null, durationMs, isAborted, code: known, isToldAgain });
  };
  const { facts } = request;
  if (facts?.isOpen !== true || facts.isBackground) tell(false);
  if (facts?.isOpen === true) facts.onClosed = () => tell(facts.isBackground);
}

type Level = "info" | "warn" | "error";

function decideLevel(failure: Error | null, statusCode: number): Level {
  const level = failure instanceof AppError ? getErrorEntry(failure.code).logLevel : undefined;
  return level ?? (statusCode >= 500 ? "error" : "info");
}

function presentCode({ code }: AppError): string {
  return getErrorEntry(code).wireCode ?? code;
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}
