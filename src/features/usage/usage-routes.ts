import { type Static, Type } from "typebox";
import { describeAnswers } from "../../platform/http/answer-headers.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { addChargeRoutes } from "./charge-routes.ts";
import type { UsageDependencies } from "./explain-charge.ts";
import { csvAnswer, csvType, queryErrors } from "./list-schema.ts";
import { addStatementRoutes } from "./statement-routes.ts";
import { sumUsage } from "./sum-usage.ts";
import { parseGroups, presentUsage, presentUsageCsv, usageQuerySchema, usageSchema } from "./usage-schema.ts";

export function addUsageRoutes(http: HttpServer, dependencies: UsageDependencies): void {
  addUsage(http, dependencies);
  addChargeRoutes(http, dependencies);
  addStatementRoutes(http, dependencies);
}

function addUsage(http: HttpServer, { database, clock, currency }: UsageDependencies): void {
  const { config, schema, errors } = describeEndpoint("getUsage", queryErrors);
  const description = `Returns usage and charges of a period: the last 30 days by default, at most 400 days (31 when grouped by hour).
Days and hours follow the account's time zone. Pass a row's \`from\`, \`to\`, model and key to \`GET /charges\` to list its
charges.`;
  http.get(
    "/usage",
    {
      config,
      schema: {
        ...schema,
        summary: "Get usage",
        description,
        tags: ["Usage"],
        querystring: usageQuerySchema,
        ...describeAnswers({ 200: csvAnswer }),
        // CSV is sent as a string without serialization.
        response: { 200: Type.Unsafe<Static<typeof usageSchema> | string>(usageSchema), ...errors },
      },
    },
    async (request, reply) => {
      const { from, to, group_by: groups = "day", model = null, key_id: keyId = null, format } = request.query;
      const { accountId } = getCaller(request);
      const question = { accountId, from, to, groupBy: parseGroups(groups), model, keyId };
      const usage = await sumUsage({ database, clock }, question);
      if (format !== "csv") return presentUsage(usage, currency);
      reply.type(csvType).header("content-disposition", 'attachment; filename="usage.csv"');
      return presentUsageCsv(usage);
    },
  );
}
