import { Type } from "typebox";
import { type AccountId, readIdTime } from "../../../lib/ids.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { endpointWires } from "../../../platform/http/endpoint-table.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import { listAnyRequests } from "../../requests/index.ts";
import { createUnknownCursor } from "../../usage/index.ts";
import { findAccountEmails } from "../accounts/account-email-store.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { momentField, parseMoment } from "../edge/moment-field.ts";
import { explainRequest } from "./explain-request.ts";
import { presentExplained, presentListed, requestListSchema, requestSchema } from "./request-admin-schema.ts";

const text = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 200, pattern: "^[^\\0]*$", description }));

const querySchema = Type.Object(
  {
    account_id: Type.Optional(Type.String({ pattern: "^acct_[0-9a-z]{1,64}$" })),
    key_id: Type.Optional(Type.String({ pattern: "^key_[0-9a-z]{1,64}$" })),
    model: text("The requested model."),
    upstream: text("The upstream that responded, or that failed an attempt."),
    wire: Type.Optional(Type.Enum(endpointWires, { description: "The API format." })),
    status: Type.Optional(
      Type.String({
        pattern: "^([1-5]xx|[1-5][0-9]{2})$",
        examples: ["5xx", "429"],
        description: "A status or a class.",
      }),
    ),
    error_code: Type.Optional(Type.String({ pattern: "^[a-z_0-9]{1,64}$" })),
    failed_attempts: Type.Optional(
      Type.Enum(["any"], {
        description: "Only requests with a failed attempt at an upstream, also if another one served it.",
      }),
    ),
    from: momentField("Only requests from this time on."),
    to: momentField("Only requests before this time."),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
    after: Type.Optional(
      Type.String({ pattern: "^req_[0-9a-z]{26}$", description: "The `next_cursor` of the previous page." }),
    ),
  },
  { additionalProperties: false },
);

const dayMs = 24 * 60 * 60_000;
/** The clocks of nodes differ slightly, so ids may lie in the future. */
const clockMarginMs = 60_000;
const usualLimit = 50;

export function addRequestAdminRoutes(http: HttpServer, dependencies: AdminDependencies): void {
  const { database, clock, requestDays, currency } = dependencies;
  const list = describeAdminEndpoint("listRequests");
  http.get(
    "/requests",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List requests of all accounts",
        description:
          "The request log, newest first. A page may be short, or empty, and still have a next one: a search stops after a while.",
        querystring: querySchema,
        response: { 200: requestListSchema, ...list.errors },
      },
    },
    async ({ query }) => {
      const now = clock.now().getTime();
      const keptFrom = new Date(now - requestDays * dayMs);
      const asked = parseMoment(query.from, "from") ?? keptFrom;
      const after = query.after === undefined ? null : parsePlace(query.after);
      const page = await listAnyRequests(
        database,
        {
          accountId: (query.account_id as AccountId | undefined) ?? null,
          model: query.model ?? null,
          keyId: query.key_id ?? null,
          wire: query.wire ?? null,
          status: query.status === undefined ? null : parseStatus(query.status),
          errorCode: query.error_code ?? null,
          upstream: query.upstream ?? null,
          hasFailedAttempt: query.failed_attempts === "any",
          from: asked < keptFrom ? keptFrom : asked,
          to: parseMoment(query.to, "to") ?? new Date(now + clockMarginMs),
        },
        { after, limit: query.limit ?? usualLimit },
      );
      const emails = await findAccountEmails(
        database,
        page.records.map(({ accountId }) => accountId),
      );
      return {
        object: "list" as const,
        data: page.records.map((record) => presentListed(record, emails.get(record.accountId) ?? null)),
        has_more: page.next !== null,
        next_cursor: page.next?.id ?? null,
      };
    },
  );
  const get = describeAdminEndpoint("getRequest");
  http.get(
    "/requests/:request_id",
    {
      config: get.config,
      schema: {
        ...get.schema,
        summary: "Explain a request of any account",
        description:
          "The route, every attempt with the vendor's status and words, the charge, what it cost and the margin.",
        params: pathParams({ request_id: "request" }),
        response: { 200: requestSchema, ...get.errors },
      },
    },
    async ({ params }) => presentExplained(await explainRequest(database, params.request_id), currency),
  );
}

function parsePlace(id: string) {
  const createdAt = readIdTime(id);
  if (createdAt === null) throw createUnknownCursor();
  return { id, createdAt };
}

/** `429` is one status, `5xx` a class. */
function parseStatus(words: string): { least: number; most: number } {
  if (!words.endsWith("xx")) return { least: Number(words), most: Number(words) };
  const least = Number(words.charAt(0)) * 100;
  return { least, most: least + 99 };
}
