import { authenticateCaller } from "../features/accounts/index.ts";
import { addModelRoutes } from "../features/catalog/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { IdSource } from "../lib/ids.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import { type Database, pingDatabase } from "../platform/database/database.ts";
import { createHttpServer, type HttpServer } from "../platform/http/create-http-server.ts";
import { describeRoutes } from "../platform/http/openapi.ts";
import type { Logger } from "../platform/observability/logger.ts";
import { addHealthRoutes } from "./health-routes.ts";
import { addReferenceRoutes } from "./reference-routes.ts";

export type GatewayHttpParts = {
  settings: Settings;
  database: Database;
  clock: Clock;
  ids: IdSource;
  logger: Logger;
};

const apiDescription = `An OpenAI-compatible API: point an OpenAI client at the address below.

Every call sends \`Authorization: Bearer <API_KEY>\`, from a server, never from a browser. Every answer has an
\`x-request-id\`; a trace id of your own goes into \`X-Client-Request-Id\` and comes back. Every error has the same body:
\`{"error": {"message", "type", "param", "code"}, "request_id"}\`.`;

/** The list of all routes, in one place, behind the edge that all of them share. */
export async function createGatewayHttp(parts: GatewayHttpParts): Promise<HttpServer> {
  const { settings, database } = parts;
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
      addHealthRoutes(http, { checkDatabase: () => pingDatabase(database) });
      await addReferenceRoutes(http);
      await http.register(
        async (v1: HttpServer) => {
          v1.addHook("onRequest", async (request) => {
            request.caller = await authenticateCaller(database, request.headers.authorization);
          });
          addModelRoutes(v1, { database });
        },
        { prefix: "/v1" },
      );
    },
  });
}
