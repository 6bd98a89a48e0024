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
  parts.logger[isServerFault ? "error" : "info"](
    {
      request_id: request.id,
      method: request.method,
      route,
      // A path without a route is what an operator wants to see; its query may hold secrets.
      ...(route === null ? { path: request.url.split("?", 1)[0]?.slice(0, pathCharactersMax) } : {}),
      status: reply.statusCode,
      duration_ms: round(parts.clock.monotonicMs() - request.startedMs),
      ...(request.respondedMs === null ? {} : { first_byte_ms: round(request.respondedMs - request.startedMs) }),
      ...(reply.raw.writableFinished ? {} : { aborted: true }),
      ...(request.caller === null ? {} : { account_id: request.caller.accountId, key_id: request.caller.keyId }),
      ...(request.clientRequestId === null ? {} : { client_request_id: request.clientRequestId }),
      ...request.logFields,
      ...presentFailure(request.failure, isServerFault),
    },
    "request",
  );
}

/** A caller's mistake is told by its code alone, because messages about it may quote what the caller sent. */
function presentFailure(failure: Error | null, isServerFault: boolean): Record<string, unknown> {
  if (!(failure instanceof AppError)) return {};
  const code = getErrorEntry(failure.code).wireCode ?? failure.code;
  return isServerFault ? { error_code: code, error: failure } : { error_code: code };
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}
