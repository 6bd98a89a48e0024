import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../lib/clock.ts";
import { AppError } from "../errors/app-error.ts";
import { getErrorEntry } from "../errors/error-table.ts";
import type { Logger } from "../observability/logger.ts";
import { findOpenReply, noteOpenReply } from "./request-context.ts";

const pathCharactersMax = 200;

type RequestLogOptions = { clock: Clock; logger: Logger };

/**
 * One line for the request, written when its connection is done with it, however it ended. Also for a request that the
 * framework refuses before any hook has seen it.
 */
export function logRequest(request: FastifyRequest, reply: FastifyReply, options: RequestLogOptions): void {
  request.startedMs = options.clock.monotonicMs();
  const { socket } = request.raw;
  noteOpenReply(socket, reply);
  // Node emits it once; `once` would make two more objects of it.
  reply.raw.on("close", () => {
    // The next request may have come before this one was answered.
    if (findOpenReply(socket) === reply) noteOpenReply(socket, null);
    writeLine(reply, options);
  });
}

function writeLine(reply: FastifyReply, options: RequestLogOptions): void {
  const { request, raw, statusCode } = reply;
  const { caller, startedMs, respondedMs, logFields, failure } = request;
  const route = request.routeOptions.url ?? null;
  const level = decideLevel(failure, statusCode);
  // What a usual line has comes first and at once: a field that is added later makes the object anew.
  const fields: Record<string, unknown> = {
    request_id: request.id,
    method: request.method,
    route,
    status: statusCode,
    duration_ms: round(options.clock.monotonicMs() - startedMs),
    first_byte_ms: respondedMs === null ? undefined : round(respondedMs - startedMs),
    account_id: caller?.accountId,
    key_id: caller?.keyId,
  };
  // A path without a route is what an operator wants to see; its query may hold secrets.
  if (route === null) fields.path = request.url.split("?", 1)[0]?.slice(0, pathCharactersMax);
  if (!raw.writableFinished) fields.aborted = true;
  if (request.clientRequestId !== null) fields.client_request_id = request.clientRequestId;
  if (logFields !== null) Object.assign(fields, logFields);
  if (failure !== null) Object.assign(fields, presentFailure(failure, level));
  options.logger[level](fields, "request");
}

type Level = "info" | "warn" | "error";

function decideLevel(failure: Error | null, statusCode: number): Level {
  const level = failure instanceof AppError ? getErrorEntry(failure.code).logLevel : undefined;
  return level ?? (statusCode >= 500 ? "error" : "info");
}

/** A caller's mistake is told by its code alone, because messages about it may quote what the caller sent. */
function presentFailure(failure: Error, level: Level): Record<string, unknown> | null {
  if (!(failure instanceof AppError)) return null;
  const code = getErrorEntry(failure.code).wireCode ?? failure.code;
  return level === "info" ? { error_code: code } : { error_code: code, error: failure };
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}
