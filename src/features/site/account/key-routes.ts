import { consoleErrors, getSession } from "../../../platform/http/console-edge.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { optionalBody } from "../../../platform/http/optional-body.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import { getOwnKey, listKeyPage } from "../../accounts/index.ts";
import { describeKey, describeKeys } from "./describe-keys.ts";
import {
  keyChangeSchema,
  keyListQuerySchema,
  keyListSchema,
  keyRequestSchema,
  keySchema,
  newKeySchema,
  parseKeyChange,
  parseKeyRequest,
  rotationSchema,
} from "./key-schema.ts";
import { editOwnKey, endOwnKey, makeOwnKey, type OwnKeyDependencies, replaceOwnKey } from "./make-own-key.ts";

const tags = ["API keys"];
const params = pathParams({ id: "key" });

export function addKeyRoutes(http: HttpServer, dependencies: OwnKeyDependencies): void {
  addList(http, dependencies);
  addGet(http, dependencies);
  addCreate(http, dependencies);
  addChange(http, dependencies);
  addRotate(http, dependencies);
  addRevoke(http, dependencies);
}

function addList(http: HttpServer, dependencies: OwnKeyDependencies): void {
  const errors = consoleErrors("GET", ["invalid_parameter", "unknown_parameter"]);
  http.get(
    "/keys",
    {
      schema: {
        operationId: "listKeys",
        summary: "List API keys",
        description: "Newest first.",
        tags,
        querystring: keyListQuerySchema,
        response: { 200: keyListSchema, ...errors },
      },
    },
    async (request) => {
      const { accountId } = getSession(request);
      const { limit, ...filter } = request.query;
      const now = dependencies.clock.now();
      const found = await listKeyPage(dependencies.database, { ...filter, accountId, now, limit: limit + 1 });
      const page = found.slice(0, limit);
      const hasMore = found.length > limit;
      const data = await describeKeys(dependencies, accountId, page);
      return {
        object: "list" as const,
        data,
        has_more: hasMore,
        next_cursor: hasMore ? (page.at(-1)?.id ?? null) : null,
      };
    },
  );
}

function addGet(http: HttpServer, dependencies: OwnKeyDependencies): void {
  http.get(
    "/keys/:id",
    {
      schema: {
        operationId: "getKey",
        summary: "Get an API key",
        tags,
        params,
        response: { 200: keySchema, ...consoleErrors("GET", ["not_found"]) },
      },
    },
    async (request) => {
      const { accountId } = getSession(request);
      const key = await getOwnKey(dependencies.database, { accountId, id: request.params.id });
      return await describeKey(dependencies, key);
    },
  );
}

function addCreate(http: HttpServer, dependencies: OwnKeyDependencies): void {
  http.post(
    "/keys",
    {
      schema: {
        operationId: "createKey",
        summary: "Create an API key",
        description: "Only this response contains the `key`. An account has at most 100 active keys.",
        tags,
        body: keyRequestSchema,
        response: {
          201: newKeySchema,
          ...consoleErrors("POST", ["reauthentication_required", "too_many_attempts"]),
        },
      },
    },
    async (request, reply) => {
      const { apiKey, text } = await makeOwnKey(dependencies, getSession(request), parseKeyRequest(request.body));
      reply.code(201);
      return { ...(await describeKey(dependencies, apiKey)), key: text };
    },
  );
}

function addChange(http: HttpServer, dependencies: OwnKeyDependencies): void {
  http.patch(
    "/keys/:id",
    {
      schema: {
        operationId: "updateKey",
        summary: "Update an API key",
        description: `Absent fields keep their value. Every node applies the change within a second. Extending the key's access requires
reauthentication.`,
        tags,
        params,
        body: keyChangeSchema,
        response: { 200: keySchema, ...consoleErrors("PATCH", ["not_found", "reauthentication_required"]) },
      },
    },
    async (request) => {
      const change = parseKeyChange(request.body);
      const key = await editOwnKey(dependencies, getSession(request), request.params.id, change);
      return await describeKey(dependencies, key);
    },
  );
}

function addRotate(http: HttpServer, dependencies: OwnKeyDependencies): void {
  http.post(
    "/keys/:id/rotate",
    {
      schema: {
        operationId: "rotateKey",
        summary: "Rotate an API key",
        description: `Creates a key with the same name and restrictions; only this response contains it. The old key expires at once, or
after \`overlap_minutes\`. The new key continues the old one's budget;
during the overlap both share it.`,
        tags,
        params,
        body: optionalBody(rotationSchema),
        response: {
          201: newKeySchema,
          ...consoleErrors("POST", ["not_found", "reauthentication_required", "too_many_attempts"]),
        },
      },
    },
    async (request, reply) => {
      const rotation = { id: request.params.id, overlapMinutes: request.body?.overlap_minutes ?? 0 };
      const { apiKey, text } = await replaceOwnKey(dependencies, getSession(request), rotation);
      reply.code(201);
      return { ...(await describeKey(dependencies, apiKey)), key: text };
    },
  );
}

function addRevoke(http: HttpServer, dependencies: OwnKeyDependencies): void {
  http.delete(
    "/keys/:id",
    {
      schema: {
        operationId: "revokeKey",
        summary: "Revoke an API key",
        description: "Takes effect at once and cannot be undone. Returns the revoked key.",
        tags,
        params,
        response: { 200: keySchema, ...consoleErrors("DELETE", ["not_found"]) },
      },
    },
    async (request) => {
      return await describeKey(dependencies, await endOwnKey(dependencies, getSession(request), request.params.id));
    },
  );
}
