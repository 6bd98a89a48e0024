import { Type } from "typebox";
import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { balanceSchema, presentBalance } from "./balance-schema.ts";
import { readBalance } from "./read-balance.ts";

export function addBalanceRoutes(
  http: HttpServer,
  { database, clock, currency }: { database: Database; clock: Clock; currency: string },
): void {
  const { config, schema, errors } = describeEndpoint("getBalance", ["unknown_parameter"]);
  http.get(
    "/balance",
    {
      config,
      schema: {
        ...schema,
        summary: "Get the balance",
        description: "What the account has, what of it is set aside, and what is left of its plan's quotas.",
        tags: ["Balance"],
        querystring: Type.Object({}, { additionalProperties: false }),
        response: { 200: balanceSchema, ...errors },
      },
    },
    async (request) => {
      const { balance, period } = await readBalance(database, getCaller(request).accountId, clock.now());
      return presentBalance(balance, { currency, period });
    },
  );
}
