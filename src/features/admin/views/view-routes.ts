import { Type } from "typebox";
import type { AccountId } from "../../../lib/ids.ts";
import { invariant } from "../../../lib/invariant.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { getActing, getAdminCaller } from "../edge/admin-caller.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { beginView, endView } from "./view-account.ts";

const viewSchema = Type.Object({
  object: Type.Literal("account_view"),
  id: Type.String(),
  account_id: Type.String(),
  email: Type.String({ description: "Whose console it is." }),
  ends_at: Type.String({ format: "date-time" }),
});

const bodySchema = Type.Object(
  {
    reason: Type.String({
      maxLength: 2000,
      description:
        "1 to 500 characters, for the audit log. The customer sees that an operator looked, without the reason.",
    }),
  },
  { additionalProperties: false },
);

export function addViewRoutes(http: HttpServer, dependencies: AdminDependencies): void {
  const { presentViewCookie } = dependencies;
  const begin = describeAdminEndpoint("beginView");
  http.post(
    "/accounts/:account_id/views",
    {
      config: begin.config,
      schema: {
        ...begin.schema,
        summary: "See an account as its owner",
        description: `The console of this browser shows the account, read-only, for at most 30 minutes: no secrets, no contents of requests
or files. Beginning and end are in the audit log and in the customer's activity.`,
        params: pathParams({ account_id: "account" }),
        body: bodySchema,
        response: { 201: viewSchema, ...begin.errors },
      },
    },
    async (request, reply) => {
      const caller = getAdminCaller(request);
      invariant(caller.kind === "operator", "only people begin views");
      const accountId = request.params.account_id as AccountId;
      const action = { accountId, acting: getActing(request), reason: request.body.reason };
      const view = await beginView(dependencies, action, caller.session);
      reply.header("set-cookie", presentViewCookie(view.id));
      return reply.code(201).send({
        ...{ object: "account_view" as const, id: view.id, account_id: view.accountId, email: view.email },
        ends_at: view.endsAt.toISOString(),
      });
    },
  );
  const end = describeAdminEndpoint("endView");
  http.post(
    "/view/end",
    {
      config: end.config,
      schema: {
        ...end.schema,
        summary: "End the view of an account",
        description: "The console shows the operator's own account again. Without an open view, it has no effect.",
        body: Type.Object({}, { additionalProperties: false }),
        response: { 204: Type.Null(), ...end.errors },
      },
    },
    async (request, reply) => {
      const caller = getAdminCaller(request);
      if (caller.kind === "operator") {
        await endView(dependencies, { session: caller.session, acting: getActing(request) });
        reply.header("set-cookie", presentViewCookie(null));
      }
      return reply.code(204).send(null);
    },
  );
}
