import type { FastifyRequest } from "fastify";
import type { BlockList } from "../features/abuse/index.ts";
import {
  authenticateCaller,
  authenticateSession,
  type CallAttempt,
  type CallerDirectory,
  type KeyUses,
  recognizeCaller,
} from "../features/accounts/index.ts";
import type { Admin } from "../features/admin/index.ts";
import { addAlertRoutes } from "../features/alerts/index.ts";
import { addLogoRoutes, addModelRoutes, type LiveCatalog } from "../features/catalog/index.ts";
import type { Chat } from "../features/chat/index.ts";
import type { Completions } from "../features/completions/index.ts";
import type { Dramas } from "../features/dramas/index.ts";
import type { Embeddings } from "../features/embeddings/index.ts";
import type { Files } from "../features/files/index.ts";
import { addInvoiceRoutes } from "../features/invoices/index.ts";
import { addBalanceRoutes, type Ledger } from "../features/ledger/index.ts";
import { consumeLimits, readLimits } from "../features/limits/index.ts";
import type { Messages } from "../features/messages/index.ts";
import type { Payments } from "../features/payments/index.ts";
import { addQuoteRoutes, type Quotable, type Quotes } from "../features/quotes/index.ts";
import { addRequestRoutes, type ContentSeal, type RequestLog } from "../features/requests/index.ts";
import type { Responses } from "../features/responses/index.ts";
import { addSearchRoutes } from "../features/search/index.ts";
import type { Site } from "../features/site/index.ts";
import type { Speech } from "../features/speech/index.ts";
import { addFeedRoute, addUptimeRoutes, type StatusPage } from "../features/status/index.ts";
import { type Tasks, taskEventSchema } from "../features/tasks/index.ts";
import type { Transcriptions } from "../features/transcriptions/index.ts";
import { addUsageRoutes } from "../features/usage/index.ts";
import { describeWebhooks, type Webhooks } from "../features/webhooks/index.ts";
import type { ByteAllowance } from "../lib/byte-allowance.ts";
import type { Caller } from "../lib/caller.ts";
import type { Clock } from "../lib/clock.ts";
import type { IdSource } from "../lib/ids.ts";
import { invariant } from "../lib/invariant.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import type { Counters } from "../platform/counters/counters.ts";
import type { Database } from "../platform/database/database.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { Certificate } from "../platform/http/certificate.ts";
import { getSession, requireFresh } from "../platform/http/console-edge.ts";
import { createHttpServer, type HttpServer } from "../platform/http/create-http-server.ts";
import { type EndpointName, getEndpoint } from "../platform/http/endpoint-table.ts";
import { smallBodyBytes } from "../platform/http/json-body.ts";
import { describeRoutes } from "../platform/http/openapi.ts";
import type { SeenLimits } from "../platform/http/request-context.ts";
import { tapContent } from "../platform/http/tap-content.ts";
import type { Logger } from "../platform/observability/logger.ts";
import type { Metrics } from "../platform/observability/metrics.ts";
import type { Tracing } from "../platform/tracing/span.ts";
import { admitStreams } from "./admit-streams.ts";
import { explainMethod, explainMissingPath } from "./explain-missing-path.ts";
import { addHealthRoutes } from "./health-routes.ts";
import { noteRequest } from "./note-request.ts";
import { readContentDays } from "./read-content-days.ts";
import { readJsonLimits } from "./read-json-limits.ts";
import { addReferenceRoutes, readExamples } from "./reference-routes.ts";
import { requireFunds } from "./require-funds.ts";
import type { CopyWatch } from "./watch-copy.ts";
import type { ReaderWatch } from "./watch-readers.ts";

export type GatewayHttpDependencies = {
  settings: Settings;
  certificate?: Certificate | null;
  database: Database;
  callers: CallerDirectory;
  keyUses: Pick<KeyUses, "note">;
  requestLog: Pick<RequestLog, "note" | "amend">;
  contentSeal: Pick<ContentSeal, "open">;
  /** Memory limit for logged bodies of this process. */
  contentAllowance: ByteAllowance;
  readers: Pick<ReaderWatch, "watch">;
  catalog: LiveCatalog;
  counters: Counters;
  ledger: Pick<Ledger, "estimateSpendable">;
  quotes: Quotes;
  chat: Pick<Chat, "addRoutes" | "quotables">;
  completions: Pick<Completions, "addRoutes" | "quotables">;
  messages: Pick<Messages, "addRoutes" | "quotables">;
  dramas: Pick<Dramas, "addRoutes" | "quotables">;
  embeddings: Pick<Embeddings, "addRoutes" | "quotables">;
  files: Pick<Files, "addRoutes" | "addLinkRoutes">;
  payments: Pick<Payments, "addRoutes" | "addWebhookRoutes">;
  responses: Pick<Responses, "addRoutes" | "quotables">;
  admin: Pick<Admin, "addRoutes">;
  site: Pick<Site, "addRoutes" | "getBrandName">;
  /** `null` if it is switched off. */
  statusPage: StatusPage | null;
  blocks: Pick<BlockList, "requireUnblocked">;
  speech: Pick<Speech, "addRoutes" | "quotables">;
  tasks: Pick<Tasks, "addRoutes" | "addHookRoutes" | "quotables">;
  transcriptions: Pick<Transcriptions, "addRoutes" | "quotables">;
  webhooks: Pick<Webhooks, "addRoutes">;
  clock: Clock;
  ids: IdSource;
  randomBytes: (count: number) => Uint8Array;
  logger: Logger;
  metrics: Pick<Metrics, "requestDuration" | "requestsInProgress" | "errors">;
  tracing?: Tracing | null;
  checkDatabase(): Promise<void>;
  isStopping(): boolean;
  copy: Pick<CopyWatch, "isLive" | "requireLive">;
};

const apiDescription = `An OpenAI-compatible API: point an OpenAI client at the address below.

Every call sends \`Authorization: Bearer <API_KEY>\` (or \`x-api-key: <API_KEY>\`), from a server, never from a browser. Every response has an
\`x-request-id\`; send your own trace id in \`X-Client-Request-Id\`, and the response returns it. Every error has the same body:
\`{"error": {"message", "type", "param", "code"}, "request_id"}\`.`;

/** All routes of the gateway. */
export async function createGatewayHttp(given: GatewayHttpDependencies): Promise<HttpServer> {
  const { settings, database, counters, clock, ids, randomBytes, logger, tracing = null } = given;
  return await createHttpServer({
    ...{ clock, ids, logger, metrics: given.metrics, tracing },
    limits: {
      bodyBytesMax: settings.json_body_bytes_max,
      json: readJsonLimits(settings),
      headerBytesMax: settings.header_bytes_max,
      headerTimeoutMs: settings.header_timeout_ms,
      requestTimeoutMs: settings.request_timeout_ms,
    },
    trustedProxies: settings.trusted_proxies,
    certificate: given.certificate ?? null,
    explainMissing: (missing) =>
      explainMissingPath(missing, { baseUrl: settings.base_url, siteUrl: settings.site_url }),
    explainMethod,
    findLimits: (request) => findLimits(request, given),
    ...(settings.request_log_days === 0 ? {} : { onEnded: (ended) => noteRequest(given, ended) }),
    async addRoutes(http) {
      const { checkDatabase, isStopping, copy } = given;
      http.addHook("onRequest", (request, _reply, done) => {
        copy.requireLive(request);
        if (blockedPathPattern.test(request.url)) given.blocks.requireUnblocked(request.ip);
        done();
      });
      addHealthRoutes(http, { checkDatabase, isStopping, isLive: copy.isLive });
      if (!settings.roles.includes("http")) return;
      http.decorateRequest("watchAccess", {
        getter(this: FastifyRequest) {
          return given.readers.watch(this);
        },
      });
      const streams = admitStreams({ counters, logger, max: settings.event_streams_max });
      http.addHook("onClose", async () => streams.close());
      http.decorateRequest("enterStream", function enterStream(this: FastifyRequest) {
        return streams.enter(this);
      });
      await describeRoutes(http, {
        title: settings.brand_name,
        description: apiDescription,
        baseUrl: settings.base_url,
        webhooks: describeWebhooks(taskEventSchema),
        examples: readExamples(),
      });
      addReferenceRoutes(http);
      addLogoRoutes(http);
      given.files.addLinkRoutes(http);
      await given.payments.addWebhookRoutes(http);
      await given.tasks.addHookRoutes(http);
      await given.admin.addRoutes(http);
      const { statusPage } = given;
      addFeedRoute(http, { statusPage, siteUrl: settings.site_url, getBrandName: given.site.getBrandName });
      await given.site.addRoutes(http, (consoleApi) => {
        addUptimeRoutes(consoleApi, { statusPage });
        given.payments.addRoutes(consoleApi);
        addInvoiceRoutes(consoleApi, { database, clock });
        addAlertRoutes(consoleApi, { database, clock, currency: settings.currency });
        addSearchRoutes(consoleApi, { database, clock, requestDays: settings.request_log_days });
        // The console reuses the routes of the public API.
        consoleApi.register(async (api: HttpServer) => {
          const identify: Identify = (request, attempt) => {
            const session = getSession(request);
            if (secretEndpoints.has(request.routeOptions.config.endpoint)) requireFresh(session, attempt.now);
            return authenticateSession(
              { database, clock, ids, randomBytes },
              { ...attempt, accountId: session.accountId },
            );
          };
          addApi(api, identify, given);
        });
      });
      await http.register(
        async (v1: HttpServer) => {
          const callers = { callers: given.callers, counters };
          const identify: Identify = ({ headers, raw }, attempt) =>
            authenticateCaller(callers, headers, { ...attempt, connection: raw.socket });
          addApi(v1, identify, given);
        },
        { prefix: "/v1" },
      );
    },
  });
}

/** The limits of a valid API key, for responses sent before authentication. */
async function findLimits(
  request: FastifyRequest,
  { callers, counters, clock }: GatewayHttpDependencies,
): Promise<SeenLimits | null> {
  if (!apiPathPattern.test(request.url)) return null;
  const attempt = { address: request.ip, now: clock.now() };
  const caller = await recognizeCaller({ callers, counters }, request.headers, attempt);
  return caller === null ? null : await readLimits(counters, caller, readKind(request));
}

const apiPathPattern = /^\/v1(?:[/?#]|$)/;
/** A blocked network may read the pages, but neither call, sign up nor sign in. */
const blockedPathPattern = /^\/(?:v1|console\/api|connect)(?:[/?#]|$)/;

function readKind({ method }: FastifyRequest): "read" | "write" {
  return method === "GET" || method === "HEAD" ? "read" : "write";
}

/** Routes that show or change secrets require a recent authentication. */
const secretEndpoints = new Set<EndpointName | undefined>([
  "getWebhookSecret",
  "rotateWebhookSecret",
  "rotateWebhookEndpointSecret",
]);

type Identify = (request: FastifyRequest, attempt: CallAttempt) => Promise<Caller>;

function addApi(api: HttpServer, identify: Identify, given: GatewayHttpDependencies): void {
  const { database, catalog, clock } = given;
  const { currency, site_url: siteUrl } = given.settings;
  admitCallers(api, identify, given);
  addModelRoutes(api, { catalog, clock, currency, siteUrl });
  const disabled = new Set<string>(given.settings.disabled_endpoints);
  addQuoteRoutes(api, { quotes: given.quotes, quotables: listQuotables(given), clock, currency, disabled });
  given.chat.addRoutes(api);
  given.completions.addRoutes(api);
  given.responses.addRoutes(api);
  given.embeddings.addRoutes(api);
  given.files.addRoutes(api);
  given.speech.addRoutes(api);
  given.tasks.addRoutes(api);
  given.dramas.addRoutes(api);
  given.transcriptions.addRoutes(api);
  given.webhooks.addRoutes(api);
  addBalanceRoutes(api, { database, clock, currency });
  given.messages.addRoutes(api);
  addUsageRoutes(api, { database, catalog, clock, currency });
  const keptDays = given.settings.request_log_days;
  const contentDays = readContentDays(given.settings);
  addRequestRoutes(api, { database, clock, keptDays, contentDays, contentSeal: given.contentSeal });
}

function listQuotables(given: GatewayHttpDependencies): readonly Quotable[] {
  const { chat, completions, messages, responses, embeddings, speech, transcriptions, tasks, dramas } = given;
  const features = [chat, completions, responses, messages, embeddings, transcriptions, speech, tasks, dramas];
  return features.flatMap(({ quotables }) => quotables);
}

/** These cost money too, though not each call. */
const cappedEndpoints = new Set<EndpointName>(["createDrama", "createDramaShot"]);

function createCapped(settings: Settings, until: Date): AppError {
  const { new_account_daily_spend_max: max, new_account_days: days, currency, support_contact: contact } = settings;
  const whom = contact ?? "the operator of this service";
  return new AppError(
    "daily_spend_cap",
    `In its first ${days} days an account can spend ${max} ${currency} a day, and yours has. Calls work again at ${until.toISOString()}. Ask ${whom} if you need more.`,
  );
}

/** Whether the body may be large enough to check funds before reading it. */
function isLarge({ headers }: FastifyRequest): boolean {
  return Number(headers["content-length"]) > smallBodyBytes || headers["transfer-encoding"] !== undefined;
}

/** Admission: the endpoint is enabled, the caller authenticated and within its limits. */
function admitCallers(api: HttpServer, identify: Identify, given: GatewayHttpDependencies): void {
  const { settings, keyUses, database, catalog, counters, ledger, clock } = given;
  const funds = { database, catalog, ledger, clock, siteUrl: settings.site_url };
  const disabled = new Set(settings.disabled_endpoints);
  const keepsContents = readContentDays(settings) > 0;

  api.addHook("onRequest", async (request, reply) => {
    const { endpoint, url } = request.routeOptions.config;
    invariant(endpoint !== undefined, `${url} is not in the endpoint table`);
    if (disabled.has(endpoint))
      throw new AppError("endpoint_not_released", "This endpoint is disabled by the operator.");
    const now = clock.now();
    const { scope, spends, readsMemory = false } = getEndpoint(endpoint);
    const caller = await identify(request, { address: request.ip, endpointScope: scope, readsMemory, now });
    request.caller = caller;
    if (caller.logsContent && keepsContents && readKind(request) === "write") {
      request.content = tapContent(reply, given.contentAllowance);
    }
    keyUses.note(caller.keyId, now);
    request.limits = await consumeLimits(counters, caller, { request: readKind(request) });
    const { spendCappedUntil = null } = caller;
    if (spendCappedUntil !== null && spendCappedUntil > now && (spends === true || cappedEndpoints.has(endpoint))) {
      throw createCapped(settings, spendCappedUntil);
    }
    if (spends === true && isLarge(request)) await requireFunds(funds, caller, request.headers);
  });
}
