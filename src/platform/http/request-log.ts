import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../lib/clock.ts";
import { AppError } from "../errors/app-error.ts";
import { getErrorEntry } from "../errors/error-table.ts";
import type { Logger } from "../observability/logger.ts";
import type { OpenRequests } from "./request-context.ts";

const pathCharactersMax = 200;

type RequestLogParts = { clock: Clock; logger: Logger; openRequests: OpenRequests };

/** One line for each request, written when its connection is done with it, however it ended. */
export function logRequests(http: FastifyInstance, parts: RequestLogParts): void {
  // A promise for each of these would be felt.
  http.addHook("onRequest", (request, reply, done) => {
    logRequest(request, reply, parts);
    done();
  });
  http.addHook("onSend", (request, _reply, _payload, done) => {
    request.respondedMs = parts.clock.monotonicMs();
    done();
  });
}

/** Also for a request that the framework refuses before any hook has seen it. */
export function logRequest(request: FastifyRequest, reply: FastifyReply, parts: RequestLogParts): void {
  request.startedMs = parts.clock.monotonicMs();
  parts.openRequests.set(request.raw.socket, { request, reply });
  reply.raw.once("close", () => writeLine(request, reply, parts));
}

function writeLine(request: FastifyRequest, reply: FastifyReply, parts: RequestLogParts): void {
  const isServerFault = reply.statusCode >= 500;
  const route = request.routeOptions.url ?? null;
  const fields: Record<string, unknown> = { request_id: request.id, method: request.method, route };
  // A path without a route is what an operator wants to see; its query may hold secrets.
  if (route === null) fields.path = request.url.split("?", 1)[0]?.slice(0, pathCharactersMax);
  fields.status = reply.statusCode;
  fields.duration_ms = round(parts.clock.monotonicMs() - request.startedMs);
  if (request.respondedMs !== null) fields.first_byte_ms = round(request.respondedMs - request.startedMs);
  if (!reply.raw.writableFinished) fields.aborted = true;
  if (request.caller !== null) {
    fields.account_id = request.caller.accountId;
    fields.key_id = request.caller.keyId;
  }
  if (request.clientRequestId !== null) fields.client_request_id = request.clientRequestId;
  Object.assign(fields, request.logFields, presentFailure(request.failure, isServerFault));
  parts.logger[isServerFault ? "error" : "info"](fields, "request");
}

/** A caller's mistake is told by its code alone, because messages about it may quote what the caller sent. */
function presentFailure(failure: Error | null, isServerFault: boolean): Record<string, unknown> | null {
  if (!(failure instanceof AppError)) return null;
  const code = getErrorEntry(failure.code).wireCode ?? failure.code;
  return isServerFault ? { error_code: code, error: failure } : { error_code: code };
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}
