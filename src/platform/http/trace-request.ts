import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../errors/app-error.ts";
import { getErrorEntry } from "../errors/error-table.ts";
import type { NamedSpan, Span, Tracing } from "../tracing/span.ts";

/**
 * The span of an API request by OpenTelemetry's HTTP conventions; `null` for pages, probes and unknown paths. It omits the
 * actual path: some paths contain secrets.
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

/** By OpenTelemetry's conventions, only a 5xx is an error of a server span. */
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
