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
import { type ExplainDependencies, explainCharge } from "./explain-charge.ts";
import { createUnknownCursor, presentPage } from "./list-schema.ts";
import { parseRange } from "./parse-period.ts";
import { readTimeZone } from "./sum-usage.ts";

const tags = ["Usage"];

export function addChargeRoutes(http: HttpServer, dependencies: ExplainDependencies): void {
  addListCharges(http, dependencies);
  addGetCharge(http, dependencies);
}

function addListCharges(http: HttpServer, { database }: { database: Database }): void {
  const { config, schema, errors } = describeEndpoint("listCharges", ["invalid_parameter", "unknown_parameter"]);
  http.get(
    "/charges",
    {
      config,
      schema: {
        ...schema,
        summary: "List charges",
        description: "What calls and tasks were charged, newest first. Filters combine.",
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

function addGetCharge(http: HttpServer, dependencies: ExplainDependencies): void {
  const { config, schema, errors } = describeEndpoint("getCharge", ["not_found", "unknown_parameter"]);
  const description = `Why a charge is what it is: the price as it was, every quantity and its rate, what was on hold before, which
bucket paid, what was refunded since, and what there was afterwards.`;
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
