import { Readable } from "node:stream";
import { Type } from "typebox";
import { describeAnswers } from "../../platform/http/answer-headers.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { pathParams } from "../../platform/http/path-params.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { csvType, presentPage } from "../usage/index.ts";
import { addContentRoutes } from "./content/content-routes.ts";
import { type ContentReading, findContentIds } from "./content/read-content.ts";
import { openRequestCsv } from "./export-requests.ts";
import { getRequest, type RequestReading, readFilter, readRequests } from "./read-requests.ts";
import {
  presentGap,
  presentRequest,
  presentSummary,
  requestListSchema,
  requestQuerySchema,
  requestSchema,
  summaryQuerySchema,
  summarySchema,
} from "./request-schema.ts";
import { summarizeRequests } from "./summarize-requests.ts";

const tags = ["Requests"];

export function addRequestRoutes(http: HttpServer, reading: ContentReading): void {
  addListRequests(http, reading);
  addSummary(http, reading);
  addExport(http, reading);
  addGetRequest(http, reading);
  addContentRoutes(http, reading);
}

function addSummary(http: HttpServer, reading: RequestReading): void {
  const { config, schema, errors } = describeEndpoint("summarizeRequests", ["invalid_parameter", "unknown_parameter"]);
  const description = `Counts the calls of a period by status and error code, with latency percentiles, in at most 121 buckets of equal
length. Takes the filters of \`GET /requests\`. Counts the newest 200000 calls.`;
  http.get(
    "/requests/summary",
    {
      config,
      schema: {
        ...schema,
        summary: "Summarize requests",
        description,
        tags,
        querystring: summaryQuerySchema,
        response: { 200: summarySchema, ...errors },
      },
    },
    async (request) => {
      const filter = await readFilter(reading, getCaller(request).accountId, request.query);
      return presentSummary(await summarizeRequests(reading, filter));
    },
  );
}

function addExport(http: HttpServer, reading: RequestReading): void {
  const { config, schema, errors } = describeEndpoint("exportRequests", ["invalid_parameter", "unknown_parameter"]);
  http.get(
    "/requests/export",
    {
      config,
      schema: {
        ...schema,
        summary: "Export requests",
        description: "The request log as CSV, newest first, up to 100000 lines. Takes the filters of `GET /requests`.",
        tags,
        querystring: summaryQuerySchema,
        ...describeAnswers({ 200: { types: ["text/csv"], always: ["content-disposition"] } }),
        // A stream, sent without serialization.
        response: {
          200: Type.Unsafe<Readable>(Type.String({ description: "The first line contains the column names." })),
          ...errors,
        },
      },
    },
    async (request, reply) => {
      const filter = await readFilter(reading, getCaller(request).accountId, request.query);
      const lines = await openRequestCsv(reading, filter);
      reply.type(csvType).header("content-disposition", 'attachment; filename="requests.csv"');
      return Readable.from(lines);
    },
  );
}

function addListRequests(http: HttpServer, reading: ContentReading): void {
  const { config, schema, errors } = describeEndpoint("listRequests", ["invalid_parameter", "unknown_parameter"]);
  const description = `The request log: every call of the account, including failed ones, newest first. A call appears about a second
after its end and is kept for the service's retention period. Filters combine.`;
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
      const contentIds = await findContentIds(reading, filter.accountId, records);
      const page = presentPage(records, limit, (record) => presentRequest(record, contentIds));
      return { ...page, gaps: gaps.map(presentGap) };
    },
  );
}

function addGetRequest(http: HttpServer, reading: ContentReading): void {
  const { config, schema, errors } = describeEndpoint("getRequest", ["not_found", "unknown_parameter"]);
  http.get(
    "/requests/:request_id",
    {
      config,
      schema: {
        ...schema,
        summary: "Get a request",
        description: "Returns a call by the `x-request-id` of its response.",
        tags,
        params: pathParams({ request_id: "request" }),
        querystring: Type.Object({}, { additionalProperties: false }),
        response: { 200: requestSchema, ...errors },
      },
    },
    async (request) => {
      const { accountId } = getCaller(request);
      const record = await getRequest(reading, accountId, request.params.request_id);
      return presentRequest(record, await findContentIds(reading, accountId, [record]));
    },
  );
}
