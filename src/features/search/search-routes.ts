import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { consoleErrors, getSession } from "../../platform/http/console-edge.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { parseSearch } from "./parse-search.ts";
import { presentHits, searchQuerySchema, searchResultsSchema } from "./search-schema.ts";
import { findHits } from "./search-store.ts";

type SearchRouteDependencies = {
  database: Database;
  clock: Clock;
  /** How long the request log is kept. */
  requestDays: number;
};

const hitsMax = 10;
const dayMs = 24 * 60 * 60 * 1000;

export function addSearchRoutes(
  consoleApi: HttpServer,
  { database, clock, requestDays }: SearchRouteDependencies,
): void {
  consoleApi.get(
    "/search",
    {
      schema: {
        operationId: "search",
        summary: "Search",
        description: `Finds objects of the account by id or by words, newest first, at most ${hitsMax}. Words match the names of keys and
uploaded files, prompts of tasks, and URLs of webhook endpoints; a whole \`X-Client-Request-Id\` matches its requests.`,
        tags: ["Search"],
        querystring: searchQuerySchema,
        response: {
          200: searchResultsSchema,
          ...consoleErrors("GET", ["invalid_parameter", "missing_parameter", "unknown_parameter"]),
        },
      },
    },
    async (request) => {
      const { accountId } = getSession(request);
      const now = clock.now();
      const requestsFrom = new Date(now.getTime() - requestDays * dayMs);
      const scope = { accountId, now, requestsFrom, limit: hitsMax };
      return presentHits(await findHits(database, parseSearch(request.query.q), scope));
    },
  );
}
