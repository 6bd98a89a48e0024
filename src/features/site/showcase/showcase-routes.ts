import { consoleErrors } from "../../../platform/http/console-edge.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import type { Showcase } from "./create-showcase.ts";
import { showcaseSchema, statusSchema } from "./showcase-schema.ts";

const tags = ["Site"];

export function addShowcaseRoutes(http: HttpServer, showcase: Showcase): void {
  http.get(
    "/showcase",
    {
      config: { access: "open" },
      schema: {
        operationId: "getShowcase",
        summary: "Get the showcase",
        description: "Public. Models and prices of a new account, at most a few seconds old.",
        tags,
        response: { 200: showcaseSchema, ...consoleErrors("GET") },
      },
    },
    async () => showcase.read(),
  );
  http.get(
    "/status",
    {
      config: { access: "open" },
      schema: {
        operationId: "getStatus",
        summary: "Get the service's status",
        description: "Public. At most a few seconds old.",
        tags,
        response: { 200: statusSchema, ...consoleErrors("GET") },
      },
    },
    async () => showcase.readStatus(),
  );
}
