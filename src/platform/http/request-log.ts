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

/** A completed request. */
export type EndedRequest = {
  reply: FastifyReply;
  /** The route pattern; `null` for an unknown path. */
  route: string | null;
  endpoint: EndpointName | null;
  durationMs: number;
  /** The client disconnected before the end of the response. */
  isAborted: boolean;
  /** The error code of the response. */
  code: string | null;
  /** The request was reported before, with fewer facts. */
  isUpdate: boolean;
};

export type RequestLogOptions = {
  clock: Clock;
  logger: Logger;
  meter: RequestMeter;
  onEnded: ((ended: EndedRequest) => void) | null;
};

/**
 * Writes one log line when the response ends, however it ends. Also used for requests that Fastify rejects before any
 * hook.
 */
export function logRequest(request: FastifyRequest, reply: FastifyReply, options: RequestLogOptions): void {
  request.startedMs = options.clock.monotonicMs();
  options.meter.begin();
  const { socket } = request.raw;
  noteOpenReply(socket, reply);
  // Node emits `close` once; `once` would allocate two more objects.
  reply.raw.on("close", () => {
    // With pipelining, the next request may already be current.
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
  const level = decideLevel(failure, statusCode, config.isQuiet === true);
  const durationMs = options.clock.monotonicMs() - startedMs;
  const code = failure instanceof AppError ? presentCode(failure) : null;
  options.meter.end({ method: request.method, route, statusCode, isAborted: !raw.writableFinished, code, durationMs });
  // Common fields in one literal: each field added later changes the object's hidden class.
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
  // The path of an unknown route, without its query, which may contain secrets.
  if (route === null) fields.path = request.url.split("?", 1)[0]?.slice(0, pathCharactersMax);
  if (!raw.writableFinished) fields.aborted = true;
  if (request.clientRequestId !== null) fields.client_request_id = request.clientRequestId;
  if (request.span !== null) fields.trace_id = request.span.traceId;
  if (logFields !== null) Object.assign(fields, logFields);
  // Log only the code of client errors: the messages may quote what the caller sent.
  if (code !== null)
    Object.assign(
      fields,
      level === "info" || level === "debug" ? { error_code: code } : { error_code: code, error: failure },
    );
  options.logger[level](fields, "request");
  const { onEnded } = options;
  if (onEnded === null) return;
  const isAborted = !raw.writableFinished;
  const report = (isUpdate: boolean): void => {
    const known = request.failure instanceof AppError ? presentCode(request.failure) : null;
    onEnded({ reply, route, endpoint: config.endpoint ?? null, durationMs, isAborted, code: known, isUpdate });
  };
  const { facts } = request;
  if (facts?.isOpen !== true || facts.isBackground) report(false);
  if (facts?.isOpen === true) facts.onClosed = () => report(facts.isBackground);
}

type Level = "debug" | "info" | "warn" | "error";

function decideLevel(failure: Error | null, statusCode: number, isQuiet: boolean): Level {
  const level = failure instanceof AppError ? getErrorEntry(failure.code).logLevel : undefined;
  if (level !== undefined) return level;
  if (statusCode >= 500) return "error";
  return isQuiet && statusCode < 400 ? "debug" : "info";
}

function presentCode({ code }: AppError): string {
  return getErrorEntry(code).wireCode ?? code;
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}
