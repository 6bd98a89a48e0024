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
import { AppError } from "../errors/app-error.ts";
import type { Logger } from "../observability/logger.ts";
import { createMetrics, type Metrics } from "../observability/metrics.ts";
import type { Tracing } from "../tracing/span.ts";
import { isAnthropicCall } from "./anthropic-form.ts";
import { createBrokenRequestHandler } from "./broken-request.ts";
import { type Certificate, tlsVersionMin } from "./certificate.ts";
import { sendError } from "./error-response.ts";
import { acceptJsonBodies } from "./json-body.ts";
import type { JsonLimits } from "./json-scanner.ts";
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
  /** Where requests are counted. */
  metrics?: Pick<Metrics, "requestDuration" | "requestsInProgress" | "errors">;
  limits: HttpLimits;
  trustedProxies: readonly string[];
  /** What it speaks HTTPS with; `null` for HTTP. */
  certificate?: Certificate | null;
  /** What is left to whoever was not admitted yet but sent a valid key; `null` for everybody else. Never throws. */
  findLimits?(request: FastifyRequest): Promise<SeenLimits | null>;
  tracing?: Tracing | null;
  /** Told of each request when all is known of it: when its connection is done with it, or later. Never throws. */
  onEnded?(ended: EndedRequest): void;
  /** Adds every route; called once, before paths that exist learn to refuse other methods. */
  addRoutes(http: HttpServer): Promise<void>;
  /** What to tell of a path that leads nowhere although one could expect something there; `null` for every other. */
  explainMissing?(path: string): string | null;
};

const clientRequestIdPattern = /^[\x21-\x7e]{1,512}$/;
const idleConnectionMs = 72_000;

/** The edge: ids, limits, errors and log lines that every request gets, whatever it asks for. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { clock, logger, limits, metrics = createMetrics() } = options;
  const told = { clock, logger, meter: createRequestMeter(metrics), onEnded: options.onEnded ?? null };
  const http: HttpServer = fastify({
    genReqId: () => options.ids.next("req"),
    requestIdHeader: false,
    bodyLimit: limits.bodyBytesMax,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: idleConnectionMs,
    trustProxy: options.trustedProxies.length === 0 ? false : [...options.trustedProxies],
    forceCloseConnections: "idle",
    // A connection that was open before the stop may still bring a request, which is served like those before it.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 1024 },
    ...listServerOptions(options),
    clientErrorHandler: createBrokenRequestHandler(options),
    frameworkErrors: (error, request, reply) => {
      logRequest(Object.assign(request, emptyContext), reply, told);
      // No hook sees this answer.
      void tellLimits(request, reply, options).then(() => sendError(error, request, reply));
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  // Node answers an Expect header that it does not know with a bare 417; to us it is a request like any other.
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
  const methods = refuseWrongMethods(http);
  http.setNotFoundHandler((request) => {
    methods.refuse(request);
    const hint = options.explainMissing?.(request.url.split(/[?#]/, 1)[0] ?? "") ?? null;
    if (hint !== null) throw new AppError("not_offered", `This endpoint is not offered here. ${hint}`);
    throw new AppError("not_found", "There is nothing at this path.");
  });

  let isAddingRoutes = true;
  http.addHook("onRoute", (route) => {
    if (isAddingRoutes) requirePathParams(route);
  });
  acceptJsonBodies(http, limits.json);
  receiveRequests(http, options, told);
  await options.addRoutes(http);
  await http.after();
  isAddingRoutes = false;
  methods.finish();
  return http;
}

/** Node's own options, in the field in which the framework passes them to a server of the protocol. */
function listServerOptions({ limits, certificate = null }: HttpServerOptions): { http: ServerOptions } {
  const headersTimeout = Math.min(limits.headerTimeoutMs, limits.requestTimeoutMs);
  const http = {
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout,
    // How often Node looks for clients that are too slow.
    connectionsCheckingInterval: Math.ceil(headersTimeout / 4),
    // Node's own answer to a missing Host header would not have our shape, and we do not need the header.
    requireHostHeader: false,
  };
  if (certificate === null) return { http };
  const { cert, key } = certificate;
  // To the rest of the code a server of HTTPS is one of HTTP: it has the same requests, answers and connections.
  const https = { ...http, cert, key, minVersion: tlsVersionMin, handshakeTimeout: headersTimeout };
  return { https } as object as { http: ServerOptions };
}
/** What every request passes first: one hook without a promise, because each more would be felt. */
function receiveRequests(http: HttpServer, options: HttpServerOptions, told: RequestLogOptions): void {
  http.addHook("onRequest", (request, reply, done) => {
    logRequest(request, reply, told);
    if (options.tracing) request.span = traceRequest(options.tracing, request);
    identifyRequest(request, reply);
    requireStorableQuery(request.url);
    done();
  });
  http.addHook("onSend", async (request, reply) => {
    request.respondedMs = options.clock.monotonicMs();
    disposeOfBody(request, reply);
    await tellLimits(request, reply, options);
  });
}

/** Whoever has a valid key is told of their limits by every answer, also by one that comes before they are admitted. */
async function tellLimits(
  request: FastifyRequest,
  reply: FastifyReply,
  { findLimits }: HttpServerOptions,
): Promise<void> {
  // A refusal by a limit tells of it itself.
  if (reply.hasHeader("x-ratelimit-limit")) return;
  // Where the database is away, to ask it once more would only put the answer off.
  const mayAsk = !(request.failure instanceof AppError && request.failure.code === "overloaded");
  const limits = request.limits ?? (mayAsk ? await findLimits?.(request) : null) ?? null;
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
