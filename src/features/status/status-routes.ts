import { AppError } from "../../platform/errors/app-error.ts";
import { consoleErrors } from "../../platform/http/console-edge.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import type { StatusPage } from "./create-status-page.ts";
import { presentFeed } from "./present-feed.ts";
import { presentStatus, uptimeSchema } from "./status-schema.ts";

type UptimeDependencies = {
  /** `null` if the operator has switched the page off. */
  statusPage: StatusPage | null;
};

export function addUptimeRoutes(consoleApi: HttpServer, { statusPage }: UptimeDependencies): void {
  consoleApi.get(
    "/uptime",
    {
      config: { access: "open" },
      schema: {
        operationId: "getUptime",
        summary: "Get the status page's data",
        description:
          "Public, at most half a minute old. How many calls were answered, by model and endpoint, for 90 days.",
        tags: ["Site"],
        response: { 200: uptimeSchema, ...consoleErrors("GET", ["not_found"]) },
      },
    },
    async () => presentStatus(await requirePage(statusPage).read()),
  );
}

type FeedDependencies = UptimeDependencies & { siteUrl: string; getBrandName(): string };

export function addFeedRoute(http: HttpServer, { statusPage, siteUrl, getBrandName }: FeedDependencies): void {
  http.get("/status/feed.xml", { schema: { hide: true } }, async (_request, reply) => {
    const { incidents } = await requirePage(statusPage).read();
    reply.headers({
      "content-type": "application/rss+xml; charset=utf-8",
      "cache-control": "public, max-age=60",
      "x-content-type-options": "nosniff",
    });
    return presentFeed(incidents, { siteUrl, brandName: getBrandName() });
  });
}

function requirePage(statusPage: StatusPage | null): StatusPage {
  if (statusPage !== null) return statusPage;
  throw new AppError("not_found", "This service has no status page.");
}
