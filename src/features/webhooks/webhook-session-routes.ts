import type { FastifyReply } from "fastify";
import { type Static, Type } from "typebox";
import { describeAnswers } from "../../platform/http/answer-headers.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import type { EventStream, Heartbeats } from "../../platform/http/event-stream.ts";
import { sendEvents } from "../../platform/http/hijack-reply.ts";
import { emptyBodySchema } from "../../platform/http/optional-body.ts";
import { pathParams } from "../../platform/http/path-params.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { describeHeaders } from "../../platform/http/request-headers.ts";
import { followEvents } from "./follow-events.ts";
import { endWebhookSession, getSession, openWebhookSession } from "./open-webhook-session.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";
import { optionalBodyErrors } from "./webhook-schema.ts";
import { deriveSessionSecret, type WebhookSession } from "./webhook-session.ts";

type SessionRouteDependencies = WebhookDependencies & { heartbeats: Heartbeats };

const tags = ["Webhooks"];
const params = pathParams({ id: "webhookSession" });

const sessionSchema = Type.Object({
  object: Type.Literal("webhook_session"),
  id: Type.String({ examples: ["whs_01kh2n8v7m3q5x9d4c6b8a0e2f"] }),
  secret: Type.String({ description: "Signs the events; the same for every session of an API key." }),
  listening_until: Type.String({
    format: "date-time",
    description: "Until when it counts as a webhook: while it is read, and a minute more.",
  }),
  created: Type.Integer({ description: "Unix time in seconds." }),
});

export function addSessionRoutes(http: HttpServer, dependencies: SessionRouteDependencies): void {
  addCreate(http, dependencies);
  addDelete(http, dependencies);
  addStream(http, dependencies);
}

function addCreate(http: HttpServer, dependencies: SessionRouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("createWebhookSession", optionalBodyErrors);
  http.post(
    "/webhook_sessions",
    {
      config,
      schema: {
        ...schema,
        summary: "Create a webhook session",
        description: `For machines without a public address, such as your development machine: read the session's events and forward
them, as \`sluice webhooks listen\` does. Up to ten open sessions per account.`,
        tags,
        body: emptyBodySchema,
        response: { 201: sessionSchema, ...errors },
      },
    },
    async (request, reply) => {
      const session = await openWebhookSession(dependencies, getCaller(request));
      reply.code(201);
      return presentSession(dependencies.sessionSecretKey, session);
    },
  );
}

function presentSession(secretKey: Uint8Array, session: WebhookSession): Static<typeof sessionSchema> {
  return {
    object: "webhook_session",
    id: session.id,
    secret: deriveSessionSecret(secretKey, session),
    listening_until: session.listeningUntil.toISOString(),
    created: Math.floor(session.startedAt.getTime() / 1000),
  };
}

function addDelete(http: HttpServer, { database }: SessionRouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("deleteWebhookSession", ["not_found"]);
  const deleted = Type.Object({
    id: Type.String(),
    object: Type.Literal("webhook_session"),
    deleted: Type.Literal(true),
  });
  http.delete(
    "/webhook_sessions/:id",
    {
      config,
      schema: { ...schema, summary: "Delete a webhook session", tags, params, response: { 200: deleted, ...errors } },
    },
    async (request) => {
      const { id } = request.params;
      await endWebhookSession(database, getCaller(request).accountId, id);
      return { id, object: "webhook_session" as const, deleted: true as const };
    },
  );
}

function addStream(http: HttpServer, dependencies: SessionRouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("streamWebhookSession", [
    "not_found",
    "concurrency_limit_exceeded",
  ]);
  // The stream has no natural end, so a stop must abort it.
  const stopping = new AbortController();
  http.addHook("preClose", async () => stopping.abort());
  http.get(
    "/webhook_sessions/:id/events",
    {
      config,
      schema: {
        ...schema,
        summary: "Stream a webhook session's events",
        description: `Server-sent events, named after the event's type, since the session began or since \`Last-Event-ID\`. The
data is \`{"headers", "body"}\`: forward the body unchanged with these headers, and its signature is valid. The stream ends after
15 minutes, or when the session is read elsewhere. Reconnect with \`Last-Event-ID\`; some events may repeat with the same id.`,
        tags,
        params,
        headers: describeHeaders("last-event-id"),
        ...describeAnswers({ 200: { types: ["text/event-stream"] } }),
        response: { 200: Type.Unsafe<string>(Type.String({ description: "The events." })), ...errors },
      },
    },
    async (request, reply) => {
      const session = await getSession(dependencies.database, getCaller(request).accountId, request.params.id);
      const lastEventId = request.headers["last-event-id"];
      const drain = createDrain();
      // The connection closes with the stream; otherwise a stop would wait for it.
      const options = { ...dependencies, headers: { connection: "close" }, onDrain: drain.open };
      return await sendEvents(reply, options, async (stream) => {
        const writer = createWriter(reply, { stream, drain, stopping: stopping.signal });
        await followEvents(dependencies, session, {
          ...writer,
          lastEventId: typeof lastEventId === "string" ? lastEventId : null,
        });
        stream.end("");
      });
    },
  );
}

/** Suspends a writer while its client is slow. */
function createDrain(): { open(): void; wait(): Promise<void> } {
  let open = (): void => {};
  return {
    open: () => open(),
    wait: () =>
      new Promise((resolve) => {
        open = resolve;
      }),
  };
}

/** Applies back-pressure, and stops when the client disconnects. */
function createWriter(
  reply: FastifyReply,
  { stream, drain, stopping }: { stream: EventStream; drain: ReturnType<typeof createDrain>; stopping: AbortSignal },
) {
  const gone = new AbortController();
  reply.raw.once("close", () => {
    gone.abort();
    drain.open();
  });
  return {
    signal: AbortSignal.any([gone.signal, stopping]),
    async write(text: string): Promise<void> {
      if (stream.write(text) || gone.signal.aborted) return;
      await drain.wait();
    },
  };
}
