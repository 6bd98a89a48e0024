import type { Static } from "typebox";
import { consoleErrors, getSession } from "../../../platform/http/console-edge.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import type { SiteDependencies } from "../site-dependencies.ts";
import { readSessionView } from "./session/read-session-view.ts";
import { sessionSchema, siteSchema } from "./sign-in-schema.ts";

const tags = ["Site"];

/** Public settings and the current session, loaded first by every page. */
export function addSiteInfoRoutes(
  http: HttpServer,
  dependencies: Pick<SiteDependencies, "database" | "findOperatorRole">,
  site: Static<typeof siteSchema>,
): void {
  http.get(
    "/site",
    {
      config: { access: "open" },
      schema: {
        operationId: "getSite",
        summary: "Get the site's settings",
        tags,
        response: { 200: siteSchema, ...consoleErrors("GET") },
      },
    },
    async () => site,
  );
  http.get(
    "/session",
    {
      schema: {
        operationId: "getSession",
        summary: "Get the session",
        tags,
        response: { 200: sessionSchema, ...consoleErrors("GET") },
      },
    },
    async (request) => readSessionView(dependencies, getSession(request)),
  );
}
