import { Type } from "typebox";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../../platform/http/endpoint-table.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import { getCaller } from "../../../platform/http/request-context.ts";
import { contentSchema, presentContent } from "./content-schema.ts";
import { type ContentReading, getContent, removeContent } from "./read-content.ts";

const tags = ["Requests"];
const params = pathParams({ request_id: "request" });
const querystring = Type.Object({}, { additionalProperties: false });

export function addContentRoutes(http: HttpServer, reading: ContentReading): void {
  addGetContent(http, reading);
  addDeleteContent(http, reading);
}

function addGetContent(http: HttpServer, reading: ContentReading): void {
  const { config, schema, errors } = describeEndpoint("getRequestContent", ["not_found", "unknown_parameter"]);
  const description = `The bodies of a request and its response, if the key's content log was on. Secrets are removed before the bodies are
stored. Requires a key with the scope \`contents\`.`;
  http.get(
    "/requests/:request_id/content",
    {
      config,
      schema: {
        ...schema,
        summary: "Get the content of a request",
        description,
        tags,
        params,
        querystring,
        response: { 200: contentSchema, ...errors },
      },
    },
    async (request) =>
      presentContent(await getContent(reading, getCaller(request).accountId, request.params.request_id)),
  );
}

function addDeleteContent(http: HttpServer, reading: ContentReading): void {
  const { config, schema, errors } = describeEndpoint("deleteRequestContent", ["not_found", "unknown_parameter"]);
  http.delete(
    "/requests/:request_id/content",
    {
      config,
      schema: {
        ...schema,
        summary: "Delete the content of a request",
        description:
          "Deletes the content at once and permanently. The request stays in the log, with its content marked as deleted.",
        tags,
        params,
        querystring,
        response: { 200: contentSchema, ...errors },
      },
    },
    async (request) =>
      presentContent(await removeContent(reading, getCaller(request).accountId, request.params.request_id)),
  );
}
