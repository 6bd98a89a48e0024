import { type Static, Type } from "typebox";
import { consoleErrors, getSession } from "../../../platform/http/console-edge.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { emptyBodySchema } from "../../../platform/http/optional-body.ts";
import { closeEventInbox, findEventInbox, openEventInbox } from "../../webhooks/index.ts";
import type { SiteDependencies } from "../site-dependencies.ts";

const tags = ["Webhooks"];

const inboxSchema = Type.Object({
  object: Type.Literal("event_inbox"),
  is_open: Type.Boolean({ description: "Whether the account says that it reads its events itself." }),
  opened_at: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
});

/** While the inbox is open, long tasks need no other webhook: clients poll `GET /events`. */
export function addInboxRoutes(http: HttpServer, { database, clock }: SiteDependencies): void {
  http.get(
    "/event_inbox",
    {
      schema: {
        operationId: "getEventInbox",
        summary: "Get the event inbox",
        tags,
        response: { 200: inboxSchema, ...consoleErrors("GET") },
      },
    },
    async (request) => presentInbox(await findEventInbox(database, getSession(request).accountId)),
  );
  http.post(
    "/event_inbox",
    {
      schema: {
        operationId: "openEventInbox",
        summary: "Open the event inbox",
        description: "Counts as a webhook, so long tasks can start. Has no effect if it is already open.",
        tags,
        body: emptyBodySchema,
        response: { 200: inboxSchema, ...consoleErrors("POST") },
      },
    },
    async (request) => {
      const { accountId } = getSession(request);
      await openEventInbox(database, accountId, clock.now());
      return presentInbox(await findEventInbox(database, accountId));
    },
  );
  http.delete(
    "/event_inbox",
    {
      schema: {
        operationId: "closeEventInbox",
        summary: "Close the event inbox",
        description: "Events stay; new long tasks need a webhook again.",
        tags,
        response: { 200: inboxSchema, ...consoleErrors("DELETE") },
      },
    },
    async (request) => {
      await closeEventInbox(database, getSession(request).accountId);
      return presentInbox(null);
    },
  );
}

function presentInbox(openedAt: Date | null): Static<typeof inboxSchema> {
  return { object: "event_inbox", is_open: openedAt !== null, opened_at: openedAt?.toISOString() ?? null };
}
