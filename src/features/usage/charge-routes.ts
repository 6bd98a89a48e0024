import { Type } from "typebox";
import type { Database } from "../../platform/database/database.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { pathParams } from "../../platform/http/path-params.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import {
  chargeListSchema,
  chargeQuerySchema,
  explainedChargeSchema,
  presentCharge,
  presentExplained,
} from "./charge-schema.ts";
import { listCharges } from "./charge-store.ts";
import { explainCharge, type UsageDependencies } from "./explain-charge.ts";
import { createUnknownCursor, presentPage, queryErrors } from "./list-schema.ts";
import { parseRange } from "./parse-period.ts";
import { readTimeZone } from "./sum-usage.ts";

const tags = ["Usage"];

export function addChargeRoutes(http: HttpServer, dependencies: UsageDependencies): void {
  addListCharges(http, dependencies);
  addGetCharge(http, dependencies);
}

function addListCharges(http: HttpServer, { database }: { database: Database }): void {
  const { config, schema, errors } = describeEndpoint("listCharges", queryErrors);
  http.get(
    "/charges",
    {
      config,
      schema: {
        ...schema,
        summary: "List charges",
        description: "Lists the charges of calls and tasks, newest first. Filters combine.",
        tags,
        querystring: chargeQuerySchema,
        response: { 200: chargeListSchema, ...errors },
      },
    },
    async (request) => {
      const { accountId } = getCaller(request);
      const { model = null, key_id: keyId = null, task_id: taskId = null, limit = 20, after = null } = request.query;
      const range = parseRange(request.query, await readTimeZone(database, accountId));
      const filter = { accountId, ...range, model, keyId, taskId };
      const charges = await listCharges(database, filter, { after, limit: limit + 1 });
      if (charges === null) throw createUnknownCursor();
      return presentPage(charges, limit, presentCharge);
    },
  );
}

function addGetCharge(http: HttpServer, dependencies: UsageDependencies): void {
  const { config, schema, errors } = describeEndpoint("getCharge", ["not_found", "unknown_parameter"]);
  const description = `Returns how a charge was computed: the price at the time, each quantity and its rate, the hold, the credit
buckets that paid, later refunds, and the balance afterwards.`;
  http.get(
    "/charges/:charge_id",
    {
      config,
      schema: {
        ...schema,
        summary: "Explain a charge",
        description,
        tags,
        params: pathParams({ charge_id: "charge" }),
        querystring: Type.Object({}, { additionalProperties: false }),
        response: { 200: explainedChargeSchema, ...errors },
      },
    },
    async (request) =>
      presentExplained(await explainCharge(dependencies, getCaller(request), request.params.charge_id)),
  );
}
