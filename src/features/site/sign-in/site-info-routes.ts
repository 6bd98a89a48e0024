import type { Static } from "typebox";
import type { Database } from "../../../platform/database/database.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { consoleErrors, getSession } from "../console-edge.ts";
import { readSessionView } from "./session/read-session-view.ts";
import { sessionSchema, siteSchema } from "./sign-in-schema.ts";

const tags = ["Site"];

/** What a page needs to know before anything else: what this site offers, and who is looking at it. */
export function addSiteInfoRoutes(http: HttpServer, database: Database, site: Static<typeof siteSchema>): void {
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
    async (request) => readSessionView(database, getSession(request)),
  );
}
