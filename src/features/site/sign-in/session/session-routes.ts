import { Type } from "typebox";
import { inTransaction } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { consoleErrors, findSession, getSession } from "../../../../platform/http/console-edge.ts";
import type { HttpServer } from "../../../../platform/http/create-http-server.ts";
import { emptyBodySchema } from "../../../../platform/http/optional-body.ts";
import { pathParams } from "../../../../platform/http/path-params.ts";
import { appendOwnAction } from "../../../audit/index.ts";
import type { SignInDependencies } from "../sign-in-dependencies.ts";
import { sessionListSchema } from "../sign-in-schema.ts";
import { deleteSession, deleteSessions, endSession, type ListedSession, listSessions } from "./session-store.ts";
import { limitSessions } from "./sessions.ts";

const tags = ["Sessions"];
const listedMax = 100;

export function addSessionRoutes(http: HttpServer, { cookies, database, clock, logger }: SignInDependencies): void {
  http.post(
    "/sign-out",
    {
      config: { access: "open" },
      schema: {
        operationId: "signOut",
        summary: "Sign out",
        tags,
        body: emptyBodySchema,
        response: { 204: Type.Null(), ...consoleErrors("POST") },
      },
    },
    async (request, reply) => {
      const session = findSession(request);
      if (session !== null) {
        const userId = await endSession(database, session.id);
        logger.info({ user_id: userId }, "user signed out");
      }
      reply.header("set-cookie", cookies.presentRemoval("session"));
      return reply.code(204).send(null);
    },
  );
  http.get(
    "/sessions",
    {
      schema: {
        operationId: "listSessions",
        summary: "List sessions",
        tags,
        response: { 200: sessionListSchema, ...consoleErrors("GET") },
      },
    },
    async (request) => {
      const { userId, id } = getSession(request);
      const listed = await listSessions(database, userId, { ...limitSessions(clock.now()), rowsMax: listedMax });
      return { data: listed.map((session) => presentListed(session, id)) };
    },
  );
  http.delete(
    "/sessions",
    {
      schema: {
        operationId: "endOtherSessions",
        summary: "End all other sessions",
        tags,
        response: { 204: Type.Null(), ...consoleErrors("DELETE") },
      },
    },
    async (request, reply) => {
      const { userId, id } = getSession(request);
      await inTransaction(database, async (tx) => {
        await deleteSessions(tx, { userId, exceptId: id });
        await appendOwnAction(tx, getSession(request), { action: "session.others_ended", subject: userId });
      });
      logger.info({ user_id: userId }, "other sessions ended");
      return reply.code(204).send(null);
    },
  );
  http.delete(
    "/sessions/:id",
    {
      schema: {
        operationId: "endSession",
        summary: "End a session",
        tags,
        params: pathParams({ id: "session" }),
        response: { 204: Type.Null(), ...consoleErrors("DELETE", ["not_found"]) },
      },
    },
    async (request, reply) => {
      const session = getSession(request);
      const { userId } = session;
      await inTransaction(database, async (tx) => {
        if (!(await deleteSession(tx, { userId, id: request.params.id }))) {
          throw new AppError("not_found", "You have no such session.");
        }
        await appendOwnAction(tx, session, { action: "session.ended", subject: request.params.id });
      });
      logger.info({ user_id: userId }, "session ended");
      return reply.code(204).send(null);
    },
  );
}

function presentListed(session: ListedSession, currentId: string) {
  return {
    id: session.id,
    is_current: session.id === currentId,
    created_at: session.createdAt.toISOString(),
    last_seen_at: session.lastSeenAt.toISOString(),
    user_agent: session.userAgent,
    address: session.address,
  };
}
