import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../errors/app-error.ts";
import { getErrorEntry } from "../errors/error-table.ts";
import type { NamedSpan, Span, Tracing } from "../tracing/span.ts";

/**
 * The span of a request to an endpoint of the API, by OpenTelemetry's conventions for HTTP; `null` for pages, probes and
 * what leads nowhere. The path that was really asked for is left out: some paths are secrets.
 */
export function traceRequest(tracing: Tracing, request: FastifyRequest): Span | null {
  return tracing.receive(request.headers.traceparent, () => describeRequest(request));
}

function describeRequest({ id, method, routeOptions }: FastifyRequest): NamedSpan | null {
  const { config, url: route } = routeOptions;
  if (config.endpoint === undefined || route === undefined) return null;
  const attributes = { "http.request.method": method, "http.route": route, "sluice.request.id": id };
  return { name: `${method} ${route}`, kind: "server", attributes };
}

/** Its connection is done with it, however it ended. Only what is the gateway's own fault is an error of a server's span. */
export function endRequestSpan(span: Span, { request, raw, statusCode }: FastifyReply): void {
  const { failure, caller } = request;
  const code = failure instanceof AppError ? (getErrorEntry(failure.code).wireCode ?? failure.code) : null;
  span.set({
    "http.response.status_code": statusCode,
    "sluice.account.id": caller?.accountId,
    "sluice.key.id": caller?.keyId,
    "sluice.error.code": code ?? undefined,
    "sluice.aborted": raw.writableFinished ? undefined : true,
  });
  span.end(statusCode >= 500 ? { errorType: code ?? String(statusCode) } : null);
}
