import { type Static, Type } from "typebox";
import { describeAnswers } from "../../platform/http/answer-headers.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { addChargeRoutes } from "./charge-routes.ts";
import type { ExplainDependencies } from "./explain-charge.ts";
import { csvAnswer, csvType } from "./list-schema.ts";
import { addStatementRoutes } from "./statement-routes.ts";
import { sumUsage } from "./sum-usage.ts";
import { parseGroups, presentUsage, presentUsageCsv, usageQuerySchema, usageSchema } from "./usage-schema.ts";

type UsageRouteDependencies = ExplainDependencies & { currency: string };

export function addUsageRoutes(http: HttpServer, dependencies: UsageRouteDependencies): void {
  addUsage(http, dependencies);
  addChargeRoutes(http, dependencies);
  addStatementRoutes(http, dependencies);
}

function addUsage(http: HttpServer, { database, clock, currency }: UsageRouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("getUsage", ["invalid_parameter", "unknown_parameter"]);
  const description = `What was used and charged in a time: the last 30 days unless \`from\` and \`to\` say otherwise, at most 400 days
(by the hour 31). Days and hours begin in the account's time zone. Each row's \`from\` and \`to\`, model and key given to
\`GET /charges\` list the charges that it is the sum of.`;
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
        // As CSV it is a text, which is sent as it is.
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
