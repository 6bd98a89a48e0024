import { invariant } from "../../../lib/invariant.ts";
import { countRequest, requireOwnPage, securityHeaders } from "../../../platform/http/console-edge.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { adminPath, describeAdminRoutes } from "../../../platform/http/openapi.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { setAdminCaller } from "./admin-caller.ts";
import { type AdminEndpointName, adminEndpointNames } from "./admin-endpoint-table.ts";
import { identifyAdmin } from "./identify-admin.ts";

const bodyBytesMax = 256 * 1024;

/**
 * Adds the operators' API under `/admin/v1`. Every route has an entry in the endpoint table, which decides who may call it.
 * Changes from a browser must come from pages of this site (CSRF protection).
 */
export async function addAdminApi(
  http: HttpServer,
  dependencies: AdminDependencies,
  addRoutes: (adminApi: HttpServer) => void,
): Promise<void> {
  const { origin } = new URL(dependencies.siteUrl);
  await http.register(
    async (adminApi: HttpServer) => {
      await describeAdminRoutes(adminApi, dependencies);
      adminApi.addHook("onRoute", (route) => {
        route.bodyLimit ??= bodyBytesMax;
        findName(route.config?.adminEndpoint, route.url);
      });
      adminApi.addHook("onRequest", async (request, reply) => {
        reply.headers(securityHeaders);
        await countRequest(dependencies.counters, request.ip, "admin");
        const { adminEndpoint, url } = request.routeOptions.config;
        const { headers, method } = request;
        const caller = await identifyAdmin(dependencies, { headers, endpoint: findName(adminEndpoint, url) });
        // Browsers do not send an admin key by themselves.
        if (caller.kind === "operator" && method !== "GET" && method !== "HEAD") {
          requireOwnPage(request, { origin, takesForm: false });
        }
        setAdminCaller(request, caller);
      });
      addRoutes(adminApi);
      adminApi.get("/openapi.json", { config: { adminEndpoint: "getIdentity" }, schema: { hide: true } }, async () =>
        adminApi.adminSwagger(),
      );
    },
    { prefix: adminPath },
  );
}

function findName(name: string | undefined, url: string): AdminEndpointName {
  const found = adminEndpointNames.find((known) => known === name);
  invariant(found !== undefined, `${url} is not in the table of the operators' endpoints`);
  return found;
}
