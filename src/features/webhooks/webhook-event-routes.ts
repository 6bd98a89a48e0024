import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { pathParams } from "../../platform/http/path-params.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { listDeliveries } from "./delivery-store.ts";
import { findEventsKeptFrom } from "./forget-old-events.ts";
import { getEvent, resendEvent } from "./resend-event.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";
import { listEvents } from "./webhook-event-store.ts";
import {
  createListSchema,
  deliverySchema,
  eventQuerySchema,
  eventSchema,
  listQuerySchema,
  optionalBodyErrors,
  presentDelivery,
  presentList,
  presentListedEvent,
  resendSchema,
} from "./webhook-schema.ts";

const tags = ["Webhooks"];
const params = pathParams({ id: "webhookEvent" });

export function addEventRoutes(http: HttpServer, dependencies: WebhookDependencies): void {
  addList(http, dependencies);
  addDeliveries(http, dependencies);
  addResend(http, dependencies);
}

function addList(http: HttpServer, { database, clock, presentData }: WebhookDependencies): void {
  const { config, schema, errors } = describeEndpoint("listEvents", ["invalid_parameter", "unknown_parameter"]);
  http.get(
    "/events",
    {
      config,
      schema: {
        ...schema,
        summary: "List events",
        description: "All events of the last 30 days, newest first, whether or not they were sent.",
        tags,
        querystring: eventQuerySchema,
        response: { 200: createListSchema(eventSchema), ...errors },
      },
    },
    async (request) => {
      const { limit, after, type, task_id: taskId } = request.query;
      const { accountId } = getCaller(request);
      const now = clock.now();
      const filter = { type, taskId, after, keptFrom: findEventsKeptFrom(now), limit: limit + 1 };
      const events = await listEvents(database, accountId, filter);
      return presentList(events, limit, (event) => presentListedEvent(event, presentData, now));
    },
  );
}

function addDeliveries(http: HttpServer, dependencies: WebhookDependencies): void {
  const errorCodes = ["invalid_parameter", "unknown_parameter", "not_found"] as const;
  const { config, schema, errors } = describeEndpoint("listEventDeliveries", errorCodes);
  http.get(
    "/events/:id/deliveries",
    {
      config,
      schema: {
        ...schema,
        summary: "List an event's deliveries",
        description: "The event's deliveries, newest first, with every attempt and its outcome.",
        tags,
        params,
        querystring: listQuerySchema,
        response: { 200: createListSchema(deliverySchema), ...errors },
      },
    },
    async (request) => {
      const { limit, after } = request.query;
      const { accountId } = getCaller(request);
      const { id: eventId } = await getEvent(dependencies, { accountId, eventId: request.params.id });
      const deliveries = await listDeliveries(dependencies.database, { eventId, after, limit: limit + 1 });
      return presentList(deliveries, limit, presentDelivery);
    },
  );
}

function addResend(http: HttpServer, dependencies: WebhookDependencies): void {
  const { config, schema, errors } = describeEndpoint("resendEvent", [...optionalBodyErrors, "not_found"]);
  http.post(
    "/events/:id/resend",
    {
      config,
      schema: {
        ...schema,
        summary: "Resend an event",
        description: `Sends the event again, to all of its receivers that still exist or to one endpoint. The event keeps its id. Returns
the event; see its deliveries for the result.`,
        tags,
        params,
        body: resendSchema,
        response: { 202: eventSchema, ...errors },
      },
    },
    async (request, reply) => {
      const { accountId } = getCaller(request);
      const endpointId = request.body?.webhook_endpoint_id ?? null;
      await resendEvent(dependencies, { accountId, eventId: request.params.id, endpointId });
      reply.code(202);
      const event = await getEvent(dependencies, { accountId, eventId: request.params.id });
      return presentListedEvent(event, dependencies.presentData, dependencies.clock.now());
    },
  );
}
