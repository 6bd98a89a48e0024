import type { IncomingMessage, ServerOptions, ServerResponse } from "node:http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RawServerDefault,
} from "fastify";
import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { JsonLimits } from "../../lib/json-cursor.ts";
import { AppError } from "../errors/app-error.ts";
import type { Logger } from "../observability/logger.ts";
import { createMetrics, type Metrics } from "../observability/metrics.ts";
import type { Tracing } from "../tracing/span.ts";
import { isAnthropicCall } from "./anthropic-form.ts";
import { createBrokenRequestHandler } from "./broken-request.ts";
import { type Certificate, tlsVersionMin } from "./certificate.ts";
import { sendError } from "./error-response.ts";
import { acceptJsonBodies } from "./json-body.ts";
import { presentLimitHeaders } from "./limit-headers.ts";
import { requirePathParams } from "./path-params.ts";
import { refuseWrongMethods } from "./refuse-wrong-methods.ts";
import { emptyContext, type SeenLimits } from "./request-context.ts";
import { type EndedRequest, logRequest, type RequestLogOptions } from "./request-log.ts";
import { createRequestMeter } from "./request-meter.ts";
import { compileSerializer } from "./serialization.ts";
import { requireStorableQuery } from "./storable-text.ts";
import { traceRequest } from "./trace-request.ts";
import { disposeOfBody } from "./unread-body.ts";
import { compileValidator } from "./validation.ts";

export type HttpServer = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

type HttpLimits = {
  bodyBytesMax: number;
  json: JsonLimits;
  headerBytesMax: number;
  headerTimeoutMs: number;
  requestTimeoutMs: number;
};

type HttpServerOptions = {
  clock: Clock;
  ids: IdSource;
  logger: Logger;
  metrics?: Pick<Metrics, "requestDuration" | "requestsInProgress" | "errors">;
  limits: HttpLimits;
  trustedProxies: readonly string[];
  /** `null` for plain HTTP. */
  certificate?: Certificate | null;
  /** The limits of a caller with a valid key who is not admitted yet, else `null`. Never throws. */
  findLimits?(request: FastifyRequest): Promise<SeenLimits | null>;
  tracing?: Tracing | null;
  /** Called when a request is complete: at or after the end of its response. Never throws. */
  onEnded?(ended: EndedRequest): void;
  /** Adds every route. Called once, before the 405 routes are added. */
  addRoutes(http: HttpServer): Promise<void>;
  /** The error for an unknown path that clients may expect, such as an OpenAI endpoint we lack; `null` if there is none. */
  explainMissing?(missing: MissingPath): AppError | null;
  /** The same for a method that a path does not support. */
  explainMethod?(method: string, path: string): AppError | null;
};

export type MissingPath = {
  path: string;
  /** The client is one of Anthropic's. */
  isAnthropic: boolean;
  /** Whether another path has routes. */
  hasPath(path: string): boolean;
};

const clientRequestIdPattern = /^[\x21-\x7e]{1,512}$/;
const idleConnectionMs = 72_000;

/** The HTTP edge: request ids, limits, errors and log lines of every request. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { clock, logger, limits, metrics = createMetrics() } = options;
  const logOptions = { clock, logger, meter: createRequestMeter(metrics), onEnded: options.onEnded ?? null };
  const http: HttpServer = fastify({
    genReqId: () => options.ids.next("req"),
    requestIdHeader: false,
    bodyLimit: limits.bodyBytesMax,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: idleConnectionMs,
    trustProxy: options.trustedProxies.length === 0 ? false : [...options.trustedProxies],
    forceCloseConnections: "idle",
    // During shutdown, requests on open connections are still served.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 1024 },
    ...listServerOptions(options),
    clientErrorHandler: createBrokenRequestHandler(options),
    frameworkErrors: (error, request, reply) => {
      logRequest(Object.assign(request, emptyContext), reply, logOptions);
      // Hooks do not run for this response.
      void addLimitHeaders(request, reply, options).then(() => sendError(error, request, reply));
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  // Node rejects unknown Expect headers with a bare 417; ignore the header instead.
  http.server.on("checkExpectation", (request, response) => http.server.emit("request", request, response));

  http.decorateRequest("caller", emptyContext.caller);
  http.decorateRequest("clientRequestId", emptyContext.clientRequestId);
  http.decorateRequest("startedMs", emptyContext.startedMs);
  http.decorateRequest("respondedMs", emptyContext.respondedMs);
  http.decorateRequest("limits", emptyContext.limits);
  http.decorateRequest("bodyBytes", emptyContext.bodyBytes);
  http.decorateRequest("rawBody", emptyContext.rawBody);
  http.decorateRequest("logFields", emptyContext.logFields);
  http.decorateRequest("facts", emptyContext.facts);
  http.decorateRequest("failure", emptyContext.failure);
  http.decorateRequest("span", emptyContext.span);
  http.decorateRequest("content", emptyContext.content);
  http.setValidatorCompiler(compileValidator);
  http.setSerializerCompiler(compileSerializer);
  http.setErrorHandler(sendError);
  const explain = ({ method, url }: FastifyRequest) => options.explainMethod?.(method, readPath(url)) ?? null;
  const methods = refuseWrongMethods(http, explain);
  http.setNotFoundHandler((request) => {
    methods.refuse(request);
    const path = readPath(request.url);
    const missing = { path, isAnthropic: isAnthropicCall(request), hasPath: methods.hasPath };
    throw options.explainMissing?.(missing) ?? new AppError("not_found", "There is nothing at this path.");
  });

  let isAddingRoutes = true;
  http.addHook("onRoute", (route) => {
    if (isAddingRoutes) requirePathParams(route);
  });
  acceptJsonBodies(http, limits.json);
  receiveRequests(http, options, logOptions);
  await options.addRoutes(http);
  await http.after();
  isAddingRoutes = false;
  methods.finish();
  return http;
}

function readPath(url: string): string {
  return url.split(/[?#]/, 1)[0] ?? "";
}

/** Fastify passes `http` or `https` to the Node server of that protocol. */
function listServerOptions({ limits, certificate = null }: HttpServerOptions): { http: ServerOptions } {
  const headersTimeout = Math.min(limits.headerTimeoutMs, limits.requestTimeoutMs);
  const http = {
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout,
    connectionsCheckingInterval: Math.ceil(headersTimeout / 4),
    // Node's response to a missing Host header does not have our error body, and we do not need the header.
    requireHostHeader: false,
  };
  if (certificate === null) return { http };
  const { cert, key } = certificate;
  // The rest of the code does not distinguish HTTP and HTTPS servers.
  const https = { ...http, cert, key, minVersion: tlsVersionMin, handshakeTimeout: headersTimeout };
  return { https } as object as { http: ServerOptions };
}

/** One hook without a promise: this is the hot path. */
function receiveRequests(http: HttpServer, options: HttpServerOptions, logOptions: RequestLogOptions): void {
  http.addHook("onRequest", (request, reply, done) => {
    logRequest(request, reply, logOptions);
    if (options.tracing) request.span = traceRequest(options.tracing, request);
    identifyRequest(request, reply);
    requireStorableQuery(request.url);
    done();
  });
  http.addHook("onSend", async (request, reply) => {
    request.respondedMs = options.clock.monotonicMs();
    disposeOfBody(request, reply);
    await addLimitHeaders(request, reply, options);
  });
}

/** Adds rate limit headers to every response to a valid key, also before the caller is admitted. */
async function addLimitHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  { findLimits }: HttpServerOptions,
): Promise<void> {
  // A 429 has its own.
  if (reply.hasHeader("x-ratelimit-limit")) return;
  // Skip the query while the database is unavailable: it would only delay the response.
  const canQuery = !(request.failure instanceof AppError && request.failure.code === "overloaded");
  const limits = request.limits ?? (canQuery ? await findLimits?.(request) : null) ?? null;
  if (limits !== null) reply.headers(presentLimitHeaders(limits));
}

function identifyRequest(request: FastifyRequest, reply: FastifyReply): void {
  reply.header("x-request-id", request.id);
  reply.header("x-content-type-options", "nosniff");
  if (isAnthropicCall(request)) reply.header("request-id", request.id);
  const given = request.headers["x-client-request-id"];
  if (given === undefined) return;
  if (typeof given !== "string" || !clientRequestIdPattern.test(given)) {
    throw new AppError(
      "invalid_parameter",
      "`X-Client-Request-Id` must have 1 to 512 visible ASCII characters without spaces.",
      { param: "X-Client-Request-Id" },
    );
  }
  request.clientRequestId = given;
  reply.header("x-client-request-id", given);
}
