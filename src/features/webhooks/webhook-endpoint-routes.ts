import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import { describeAnswers } from "../../platform/http/answer-headers.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { emptyBodySchema } from "../../platform/http/optional-body.ts";
import { pathParams } from "../../platform/http/path-params.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { changeEndpoint, getEndpoint, removeEndpoint, rotateEndpointSecret } from "./change-endpoint.ts";
import { createEndpoint } from "./create-endpoint.ts";
import { listDeliveries } from "./delivery-store.ts";
import { findEventsKeptFrom } from "./forget-old-events.ts";
import { sendTestEvent } from "./resend-event.ts";
import type { SecretBox } from "./secret-box.ts";
import { listEndpoints } from "./webhook-endpoint-store.ts";
import type { PresentData } from "./webhook-event.ts";
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
  presentDelivery,
  presentEndpoint,
  presentList,
  presentListedEvent,
} from "./webhook-schema.ts";

type EndpointRouteDependencies = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  secretBox: SecretBox;
  allowsPrivate: boolean;
  presentData: PresentData;
  baseUrl: string;
};

const tags = ["Webhooks"];
const params = pathParams({ id: "webhookEndpoint" });

/** What a body can be refused for. */
const bodyErrors = [
  "invalid_json",
  "missing_parameter",
  "invalid_parameter",
  "unknown_parameter",
  "payload_too_large",
  "unsupported_media_type",
] as const satisfies readonly ErrorCode[];

export function addEndpointRoutes(http: HttpServer, dependencies: EndpointRouteDependencies): void {
  addCreate(http, dependencies);
  addList(http, dependencies);
  addGet(http, dependencies);
  addUpdate(http, dependencies);
  addDelete(http, dependencies);
  addRotate(http, dependencies);
  addTest(http, dependencies);
  addDeliveries(http, dependencies);
}

function addCreate(http: HttpServer, dependencies: EndpointRouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("createWebhookEndpoint", [...bodyErrors, "invalid_url"]);
  http.post(
    "/webhook_endpoints",
    {
      config,
      schema: {
        ...schema,
        summary: "Create a webhook endpoint",
        description: `An address that hears of the account's events. The answer has its \`secret\`, this once. Signatures
are those of Standard Webhooks. An account has at most 20 endpoints, each with a URL of its own.`,
        tags,
        body: newEndpointSchema,
        ...describeAnswers({ 201: { always: ["location"] } }),
        response: { 201: endpointSchema, ...errors },
      },
    },
    async (request, reply) => {
      const { url, description = "", event_types: eventTypes = [] } = request.body;
      const { accountId } = getCaller(request);
      const { endpoint, secret } = await createEndpoint(dependencies, { accountId, url, description, eventTypes });
      reply.code(201).header("location", `${dependencies.baseUrl}/webhook_endpoints/${endpoint.id}`);
      return { ...presentEndpoint(endpoint, dependencies.clock.now()), secret };
    },
  );
}

function addList(http: HttpServer, { database, clock }: EndpointRouteDependencies): void {
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

function addGet(http: HttpServer, { database, clock }: EndpointRouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("getWebhookEndpoint", ["not_found"]);
  http.get(
    "/webhook_endpoints/:id",
    {
      config,
      schema: {
        ...schema,
        summary: "Get a webhook endpoint",
        description: "With why and since when it is disabled, where it is.",
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

function addUpdate(http: HttpServer, { database, clock, allowsPrivate }: EndpointRouteDependencies): void {
  const errorCodes = [...bodyErrors, "invalid_url", "not_found"] as const;
  const { config, schema, errors } = describeEndpoint("updateWebhookEndpoint", errorCodes);
  http.patch(
    "/webhook_endpoints/:id",
    {
      config,
      schema: {
        ...schema,
        summary: "Update a webhook endpoint",
        description: `What is absent stays. What waits for the endpoint goes to its new \`url\`. \`enabled\` switches it
off and on; what was missed meanwhile can be sent again.`,
        tags,
        params,
        body: endpointChangesSchema,
        response: { 200: endpointSchema, ...errors },
      },
    },
    async (request) => {
      const { url, description, event_types: eventTypes, enabled: isEnabled } = request.body;
      const endpoint = await changeEndpoint(
        { database, clock, allowsPrivate },
        { accountId: getCaller(request).accountId, id: request.params.id },
        {
          ...(url === undefined ? {} : { url }),
          ...(description === undefined ? {} : { description }),
          ...(eventTypes === undefined ? {} : { eventTypes }),
          ...(isEnabled === undefined ? {} : { isEnabled }),
        },
      );
      return presentEndpoint(endpoint, clock.now());
    },
  );
}

function addDelete(http: HttpServer, { database }: EndpointRouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("deleteWebhookEndpoint", ["not_found"]);
  http.delete(
    "/webhook_endpoints/:id",
    {
      config,
      schema: {
        ...schema,
        summary: "Delete a webhook endpoint",
        description: "What waits for it is dropped; the log of its deliveries stays.",
        tags,
        params,
        response: { 200: deletedEndpointSchema, ...errors },
      },
    },
    async (request) => {
      const { id } = request.params;
      await removeEndpoint(database, { accountId: getCaller(request).accountId, id });
      return { id, object: "webhook_endpoint" as const, deleted: true as const };
    },
  );
}

function addRotate(http: HttpServer, { database, clock, secretBox }: EndpointRouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("rotateWebhookEndpointSecret", [...bodyErrors, "not_found"]);
  http.post(
    "/webhook_endpoints/:id/rotate_secret",
    {
      config,
      schema: {
        ...schema,
        summary: "Rotate an endpoint's secret",
        description:
          "The answer has it, this once. For 24 hours the one before signs too, with a signature of its own.",
        tags,
        params,
        body: emptyBodySchema,
        response: { 200: endpointSchema, ...errors },
      },
    },
    async (request) => {
      const name = { accountId: getCaller(request).accountId, id: request.params.id };
      const { endpoint, secret } = await rotateEndpointSecret({ database, clock, secretBox }, name);
      return { ...presentEndpoint(endpoint, clock.now()), secret };
    },
  );
}

function addTest(http: HttpServer, { database, clock, ids, presentData }: EndpointRouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("testWebhookEndpoint", [...bodyErrors, "not_found"]);
  http.post(
    "/webhook_endpoints/:id/test",
    {
      config,
      schema: {
        ...schema,
        summary: "Send a test event",
        description: `An event of the type \`webhook.test\`, which is signed, sent and retried like every other, whatever the
endpoint hears of. Its deliveries tell what came of it.`,
        tags,
        params,
        body: emptyBodySchema,
        response: { 202: eventSchema, ...errors },
      },
    },
    async (request, reply) => {
      const { accountId } = getCaller(request);
      const event = await sendTestEvent({ database, clock, ids }, { accountId, endpointId: request.params.id });
      reply.code(202);
      return presentListedEvent(event, presentData, clock.now());
    },
  );
}

function addDeliveries(http: HttpServer, { database, clock }: EndpointRouteDependencies): void {
  const errorCodes = ["invalid_parameter", "unknown_parameter", "not_found"] as const;
  const { config, schema, errors } = describeEndpoint("listEndpointDeliveries", errorCodes);
  http.get(
    "/webhook_endpoints/:id/deliveries",
    {
      config,
      schema: {
        ...schema,
        summary: "List an endpoint's deliveries",
        description: "What was sent to it in the last 30 days, newest first, with every attempt and what came of it.",
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
