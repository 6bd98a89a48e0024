import { Type } from "typebox";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { pathParams } from "../../platform/http/path-params.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { presentPage } from "../usage/index.ts";
import { getRequest, type RequestReading, readFilter, readRequests } from "./read-requests.ts";
import { presentGap, presentRequest, requestListSchema, requestQuerySchema, requestSchema } from "./request-schema.ts";

const tags = ["Requests"];

export function addRequestRoutes(http: HttpServer, reading: RequestReading): void {
  addListRequests(http, reading);
  addGetRequest(http, reading);
}

function addListRequests(http: HttpServer, reading: RequestReading): void {
  const { config, schema, errors } = describeEndpoint("listRequests", ["invalid_parameter", "unknown_parameter"]);
  const description = `The request log: every call of the account, failed ones too, newest first. A call is in it about a second after
its end, and for as long as the service keeps the log. Filters combine.`;
  http.get(
    "/requests",
    {
      config,
      schema: {
        ...schema,
        summary: "List requests",
        description,
        tags,
        querystring: requestQuerySchema,
        response: { 200: requestListSchema, ...errors },
      },
    },
    async (request) => {
      const { limit = 20, after = null, ...asked } = request.query;
      const filter = await readFilter(reading, getCaller(request).accountId, asked);
      const { records, gaps } = await readRequests(reading, filter, { after, limit: limit + 1 });
      return { ...presentPage(records, limit, presentRequest), gaps: gaps.map(presentGap) };
    },
  );
}

function addGetRequest(http: HttpServer, reading: RequestReading): void {
  const { config, schema, errors } = describeEndpoint("getRequest", ["not_found", "unknown_parameter"]);
  http.get(
    "/requests/:request_id",
    {
      config,
      schema: {
        ...schema,
        summary: "Get a request",
        description: "One call of the request log, by the `x-request-id` of its answer.",
        tags,
        params: pathParams({ request_id: "request" }),
        querystring: Type.Object({}, { additionalProperties: false }),
        response: { 200: requestSchema, ...errors },
      },
    },
    async (request) =>
      presentRequest(await getRequest(reading, getCaller(request).accountId, request.params.request_id)),
  );
}
