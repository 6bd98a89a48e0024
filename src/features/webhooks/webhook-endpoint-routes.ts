import type { FastifyRequest } from "fastify";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import { describeAnswers } from "../../platform/http/answer-headers.ts";
import { findSession } from "../../platform/http/console-edge.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { emptyBodySchema } from "../../platform/http/optional-body.ts";
import { pathParams } from "../../platform/http/path-params.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import {
  changeOwnEndpoint,
  createOwnEndpoint,
  type EndpointOwner,
  removeOwnEndpoint,
  rotateOwnSecret,
} from "./audited-changes.ts";
import { getEndpoint } from "./change-endpoint.ts";
import { listDeliveries } from "./delivery-store.ts";
import { findEventsKeptFrom } from "./forget-old-events.ts";
import { sendTestEvent } from "./resend-event.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";
import { listEndpoints } from "./webhook-endpoint-store.ts";
import {
  createListSchema,
  deletedEndpointSchema,
  deliveryQuerySchema,
  deliverySchema,
  endpointChangesSchema,
  endpointSchema,
  eventSchema,
  listQuerySchema,
  newEndpointSchema,
  optionalBodyErrors,
  presentDelivery,
  presentEndpoint,
  presentList,
  presentListedEvent,
} from "./webhook-schema.ts";

const tags = ["Webhooks"];
const params = pathParams({ id: "webhookEndpoint" });

/** Error codes of an invalid body. */
const bodyErrors = [...optionalBodyErrors, "missing_parameter"] as const satisfies readonly ErrorCode[];

export function addEndpointRoutes(http: HttpServer, dependencies: WebhookDependencies): void {
  addCreate(http, dependencies);
  addList(http, dependencies);
  addGet(http, dependencies);
  addUpdate(http, dependencies);
  addDelete(http, dependencies);
  addRotate(http, dependencies);
  addTest(http, dependencies);
  addDeliveries(http, dependencies);
}

/** The console reuses these routes with its session. */
function getOwner(request: FastifyRequest): EndpointOwner {
  const from = { address: request.ip, requestId: request.id };
  return { caller: getCaller(request), session: findSession(request), from };
}

function addCreate(http: HttpServer, dependencies: WebhookDependencies): void {
  const { config, schema, errors } = describeEndpoint("createWebhookEndpoint", [...bodyErrors, "invalid_url"]);
  http.post(
    "/webhook_endpoints",
    {
      config,
      schema: {
        ...schema,
        summary: "Create a webhook endpoint",
        description: `Adds a URL that receives the account's events. The response contains its \`secret\`, only this once. Signatures
follow Standard Webhooks. An account can have at most 20 endpoints, each with its own URL.`,
        tags,
        body: newEndpointSchema,
        ...describeAnswers({ 201: { always: ["location"] } }),
        response: { 201: endpointSchema, ...errors },
      },
    },
    async (request, reply) => {
      const { url, description = "", event_types: eventTypes = [] } = request.body;
      const asked = { url, description, eventTypes };
      const { endpoint, secret } = await createOwnEndpoint(dependencies, getOwner(request), asked);
      reply.code(201).header("location", `${dependencies.baseUrl}/webhook_endpoints/${endpoint.id}`);
      return { ...presentEndpoint(endpoint, dependencies.clock.now()), secret };
    },
  );
}

function addList(http: HttpServer, { database, clock }: WebhookDependencies): void {
  const errorCodes = ["invalid_parameter", "unknown_parameter"] as const;
  const { config, schema, errors } = describeEndpoint("listWebhookEndpoints", errorCodes);
  http.get(
    "/webhook_endpoints",
    {
      config,
      schema: {
        ...schema,
        summary: "List webhook endpoints",
        description: "Newest first.",
        tags,
        querystring: listQuerySchema,
        response: { 200: createListSchema(endpointSchema), ...errors },
      },
    },
    async (request) => {
      const { limit, after } = request.query;
      const { accountId } = getCaller(request);
      const endpoints = await listEndpoints(database, { accountId, after, limit: limit + 1 });
      const now = clock.now();
      return presentList(endpoints, limit, (endpoint) => presentEndpoint(endpoint, now));
    },
  );
}

function addGet(http: HttpServer, { database, clock }: WebhookDependencies): void {
  const { config, schema, errors } = describeEndpoint("getWebhookEndpoint", ["not_found"]);
  http.get(
    "/webhook_endpoints/:id",
    {
      config,
      schema: {
        ...schema,
        summary: "Get a webhook endpoint",
        description: "Returns an endpoint; if it is disabled, with the time and the reason.",
        tags,
        params,
        response: { 200: endpointSchema, ...errors },
      },
    },
    async (request) => {
      const endpoint = await getEndpoint(database, { accountId: getCaller(request).accountId, id: request.params.id });
      return presentEndpoint(endpoint, clock.now());
    },
  );
}

function addUpdate(http: HttpServer, dependencies: WebhookDependencies): void {
  const errorCodes = [...bodyErrors, "invalid_url", "not_found"] as const;
  const { config, schema, errors } = describeEndpoint("updateWebhookEndpoint", errorCodes);
  http.patch(
    "/webhook_endpoints/:id",
    {
      config,
      schema: {
        ...schema,
        summary: "Update a webhook endpoint",
        description: `Omitted fields are unchanged. Pending deliveries go to the new \`url\`. \`enabled\` disables and enables the
endpoint; events it missed meanwhile can be resent.`,
        tags,
        params,
        body: endpointChangesSchema,
        response: { 200: endpointSchema, ...errors },
      },
    },
    async (request) => {
      const { url, description, event_types: eventTypes, enabled: isEnabled } = request.body;
      const endpoint = await changeOwnEndpoint(dependencies, getOwner(request), request.params.id, {
        ...(url === undefined ? {} : { url }),
        ...(description === undefined ? {} : { description }),
        ...(eventTypes === undefined ? {} : { eventTypes }),
        ...(isEnabled === undefined ? {} : { isEnabled }),
      });
      return presentEndpoint(endpoint, dependencies.clock.now());
    },
  );
}

function addDelete(http: HttpServer, { database }: WebhookDependencies): void {
  const { config, schema, errors } = describeEndpoint("deleteWebhookEndpoint", ["not_found"]);
  http.delete(
    "/webhook_endpoints/:id",
    {
      config,
      schema: {
        ...schema,
        summary: "Delete a webhook endpoint",
        description: "Drops pending deliveries; the log of past deliveries is kept.",
        tags,
        params,
        response: { 200: deletedEndpointSchema, ...errors },
      },
    },
    async (request) => {
      const { id } = request.params;
      await removeOwnEndpoint(database, getOwner(request), id);
      return { id, object: "webhook_endpoint" as const, deleted: true as const };
    },
  );
}

function addRotate(http: HttpServer, dependencies: WebhookDependencies): void {
  const { config, schema, errors } = describeEndpoint("rotateWebhookEndpointSecret", [...bodyErrors, "not_found"]);
  http.post(
    "/webhook_endpoints/:id/rotate_secret",
    {
      config,
      schema: {
        ...schema,
        summary: "Rotate an endpoint's secret",
        description:
          "The response contains the new secret, only this once. For 24 hours the previous secret signs too, with its own signature.",
        tags,
        params,
        body: emptyBodySchema,
        response: { 200: endpointSchema, ...errors },
      },
    },
    async (request) => {
      const { endpoint, secret } = await rotateOwnSecret(dependencies, getOwner(request), request.params.id);
      return { ...presentEndpoint(endpoint, dependencies.clock.now()), secret };
    },
  );
}

function addTest(http: HttpServer, dependencies: WebhookDependencies): void {
  const { config, schema, errors } = describeEndpoint("testWebhookEndpoint", [...bodyErrors, "not_found"]);
  http.post(
    "/webhook_endpoints/:id/test",
    {
      config,
      schema: {
        ...schema,
        summary: "Send a test event",
        description: `Sends an event of the type \`webhook.test\`, signed and retried like any other, regardless of the endpoint's
\`event_types\`. See its deliveries for the result.`,
        tags,
        params,
        body: emptyBodySchema,
        response: { 202: eventSchema, ...errors },
      },
    },
    async (request, reply) => {
      const { accountId } = getCaller(request);
      const event = await sendTestEvent(dependencies, { accountId, endpointId: request.params.id });
      reply.code(202);
      return presentListedEvent(event, dependencies.presentData, dependencies.clock.now());
    },
  );
}

function addDeliveries(http: HttpServer, { database, clock }: WebhookDependencies): void {
  const errorCodes = ["invalid_parameter", "unknown_parameter", "not_found"] as const;
  const { config, schema, errors } = describeEndpoint("listEndpointDeliveries", errorCodes);
  http.get(
    "/webhook_endpoints/:id/deliveries",
    {
      config,
      schema: {
        ...schema,
        summary: "List an endpoint's deliveries",
        description: "Deliveries of the last 30 days, newest first, with every attempt and its outcome.",
        tags,
        params,
        querystring: deliveryQuerySchema,
        response: { 200: createListSchema(deliverySchema), ...errors },
      },
    },
    async (request) => {
      const { limit, after, status: state } = request.query;
      const { accountId } = getCaller(request);
      const { id: endpointId } = await getEndpoint(database, { accountId, id: request.params.id });
      const keptFrom = findEventsKeptFrom(clock.now());
      const filter = { accountId, endpointId, ...(state === undefined ? {} : { state }), keptFrom, after };
      const deliveries = await listDeliveries(database, { ...filter, limit: limit + 1 });
      return presentList(deliveries, limit, presentDelivery);
    },
  );
}
