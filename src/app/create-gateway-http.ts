import { authenticateCaller, type CallerDirectory, type KeyUses } from "../features/accounts/index.ts";
import { addModelRoutes, type LiveCatalog } from "../features/catalog/index.ts";
import type { Chat } from "../features/chat/index.ts";
import type { Dramas } from "../features/dramas/index.ts";
import type { Files } from "../features/files/index.ts";
import { addBalanceRoutes } from "../features/ledger/index.ts";
import { consumeLimits, presentLimitHeaders } from "../features/limits/index.ts";
import type { Site } from "../features/site/index.ts";
import type { Tasks } from "../features/tasks/index.ts";
import type { Webhooks } from "../features/webhooks/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { IdSource } from "../lib/ids.ts";
import { invariant } from "../lib/invariant.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import type { Counters } from "../platform/counters/counters.ts";
import type { Database } from "../platform/database/database.ts";
import { AppError } from "../platform/errors/app-error.ts";
import { createHttpServer, type HttpServer } from "../platform/http/create-http-server.ts";
import { endpointTable } from "../platform/http/endpoint-table.ts";
import { describeRoutes } from "../platform/http/openapi.ts";
import type { Logger } from "../platform/observability/logger.ts";
import { addHealthRoutes } from "./health-routes.ts";
import { addReferenceRoutes } from "./reference-routes.ts";

export type GatewayHttpParts = {
  settings: Settings;
  database: Database;
  callers: CallerDirectory;
  keyUses: Pick<KeyUses, "note">;
  catalog: LiveCatalog;
  counters: Counters;
  chat: Pick<Chat, "addRoutes">;
  dramas: Pick<Dramas, "addRoutes">;
  files: Pick<Files, "addRoutes" | "addLinkRoutes">;
  site: Pick<Site, "addRoutes">;
  tasks: Pick<Tasks, "addRoutes">;
  webhooks: Pick<Webhooks, "addRoutes">;
  clock: Clock;
  ids: IdSource;
  logger: Logger;
  checkDatabase(): Promise<void>;
};

const apiDescription = `An OpenAI-compatible API: point an OpenAI client at the address below.

Every call sends \`Authorization: Bearer <API_KEY>\`, from a server, never from a browser. Every answer has an
\`x-request-id\`; a trace id of your own goes into \`X-Client-Request-Id\` and comes back. Every error has the same body:
\`{"error": {"message", "type", "param", "code"}, "request_id"}\`.`;

/** The list of all routes, in one place, behind the edge that all of them share. */
export async function createGatewayHttp(parts: GatewayHttpParts): Promise<HttpServer> {
  const { settings } = parts;
  return await createHttpServer({
    ...parts,
    limits: {
      bodyBytesMax: settings.json_body_bytes_max,
      headerBytesMax: settings.header_bytes_max,
      headerTimeoutMs: settings.header_timeout_ms,
      requestTimeoutMs: settings.request_timeout_ms,
    },
    trustedProxies: settings.trusted_proxies,
    async addRoutes(http) {
      await describeRoutes(http, { title: "Sluice", description: apiDescription, baseUrl: settings.base_url });
      addHealthRoutes(http, parts);
      await addReferenceRoutes(http);
      parts.files.addLinkRoutes(http);
      await parts.site.addRoutes(http);
      await http.register(
        async (v1: HttpServer) => {
          admitCallers(v1, parts);
          addModelRoutes(v1, { ...parts, currency: settings.currency });
          parts.chat.addRoutes(v1);
          parts.files.addRoutes(v1);
          parts.tasks.addRoutes(v1);
          parts.dramas.addRoutes(v1);
          parts.webhooks.addRoutes(v1);
          addBalanceRoutes(v1, { ...parts, currency: settings.currency });
        },
        { prefix: "/v1" },
      );
    },
  });
}

/** What every call of the API passes before its route: the endpoint is open, the caller is known, the limits allow it. */
function admitCallers(v1: HttpServer, { settings, callers, keyUses, counters, clock }: GatewayHttpParts): void {
  const disabled = new Set(settings.disabled_endpoints);
  v1.addHook("onRequest", async (request) => {
    const { endpoint } = request.routeOptions.config;
    invariant(endpoint !== undefined, `${request.routeOptions.url} is not in the table of endpoints`);
    if (disabled.has(endpoint)) throw new AppError("endpoint_not_released", "This endpoint is not available here.");
    const now = clock.now();
    const caller = await authenticateCaller(callers, {
      authorization: request.headers.authorization,
      address: request.ip,
      endpointScope: endpointTable[endpoint].scope,
      now,
    });
    request.caller = caller;
    keyUses.note(caller.keyId, now);
    const isRead = request.method === "GET" || request.method === "HEAD";
    request.limits = await consumeLimits(counters, caller, { request: isRead ? "read" : "write" });
  });
  // A refusal by a limit tells of it itself.
  v1.addHook("onSend", (request, reply, _payload, done) => {
    if (request.limits !== null && !reply.hasHeader("x-ratelimit-limit"))
      reply.headers(presentLimitHeaders(request.limits));
    done();
  });
}
