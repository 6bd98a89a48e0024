import { type Static, Type } from "typebox";
import { consoleErrors, getSession } from "../../../platform/http/console-edge.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { type AuditEntry, listActivity } from "../../audit/index.ts";
import { createPageSchema, createUnknownCursor, listFields, presentPage } from "../../usage/index.ts";
import type { SiteDependencies } from "../site-dependencies.ts";

/** What customers see of what operators did to their account. Notes and reasons are not for them. */
const shownOfOthers = [
  ...["account.view_begun", "account.view_ended"],
  ...["account.suspended", "account.resumed", "account.closed", "account.changed", "account.spend_cap_lifted"],
  ...["key.revoked", "two_step.reset", "task.canceled", "event.resent"],
  ...["credit.added", "credit.granted", "credit.adjusted", "credit.refunded"],
  ...["payment.refunded", "payment.debt_waived"],
  ...["person.exported", "person.erased"],
];

const activitySchema = Type.Object({
  object: Type.Literal("activity"),
  id: Type.String(),
  created_at: Type.String({ format: "date-time" }),
  by: Type.Enum(["person", "key", "operator", "service"], {
    description: "A person of the account, one of its keys, an operator of this service, or the service itself.",
  }),
  action: Type.String({ examples: ["key.created"] }),
  subject: Type.Union([Type.String(), Type.Null()], { description: "The ID of what was changed." }),
  address: Type.Union([Type.String(), Type.Null()], { description: "Of the account's people and keys only." }),
});

export function addActivityRoutes(http: HttpServer, { database }: Pick<SiteDependencies, "database">): void {
  http.get(
    "/activity",
    {
      schema: {
        operationId: "listActivity",
        summary: "List activity",
        description: "What the account's people and keys changed, and what operators did to the account. Newest first.",
        tags: ["Account"],
        querystring: Type.Object(listFields("^aud_[1-9][0-9]{0,17}$"), { additionalProperties: false }),
        response: { 200: createPageSchema(activitySchema), ...consoleErrors("GET", ["invalid_parameter"]) },
      },
    },
    async (request) => {
      const { limit = 20, after } = request.query;
      const before = after === undefined ? null : parseNumber(after);
      const { accountId } = getSession(request);
      const entries = await listActivity(database, { accountId, shownOfOthers }, { before, limit: limit + 1 });
      return presentPage(entries, limit, presentActivity);
    },
  );
}

function parseNumber(id: string): bigint {
  const number = /^aud_(\d+)$/.exec(id)?.[1];
  if (number === undefined) throw createUnknownCursor();
  return BigInt(number);
}

function presentActivity({
  number,
  createdAt,
  actor,
  address,
  action,
  subject,
}: AuditEntry): Static<typeof activitySchema> {
  const by = decideActor(actor);
  return {
    ...{ object: "activity", id: `aud_${number}`, created_at: createdAt.toISOString(), by, action, subject },
    address: by === "person" || by === "key" ? address : null,
  };
}

/** Operators are not named: customers talk to the service, not to its people. */
function decideActor({ kind, id }: AuditEntry["actor"]): Static<typeof activitySchema>["by"] {
  if (kind === "user") return "person";
  if (kind === "key" && id?.startsWith("key_") === true) return "key";
  return kind === "system" ? "service" : "operator";
}
