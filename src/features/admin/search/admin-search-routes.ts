import { Type } from "typebox";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { adminHitKinds } from "./admin-search-store.ts";
import { searchEverything } from "./search-everything.ts";

const maybeText = Type.Union([Type.String(), Type.Null()]);

const resultsSchema = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(
    Type.Object({
      object: Type.Enum([...adminHitKinds]),
      id: Type.String(),
      name: Type.String(),
      status: maybeText,
      account_id: maybeText,
      email: maybeText,
      request_id: Type.Union([Type.String(), Type.Null()], { description: "The request that caused it." }),
      created_at: Type.String({ format: "date-time" }),
    }),
  ),
  requests_from: Type.Union([Type.String({ format: "date-time" }), Type.Null()], {
    description: "How far back the request log was searched, if reading all of it would have taken too long.",
  }),
});

export function addAdminSearchRoutes(http: HttpServer, dependencies: AdminDependencies): void {
  const { config, schema, errors } = describeAdminEndpoint("search");
  http.get(
    "/search",
    {
      config,
      schema: {
        ...schema,
        summary: "Search everything",
        description: `Finds accounts, requests, keys, tasks, charges, payments and more, newest first: by an id or its prefix and at least
eight characters, a part of an address or name, a whole API key or its last four characters, Stripe's id of a payment, a vendor's id of
a recent task, a vendor's id of a request, or a client's \`X-Client-Request-Id\`.`,
        querystring: Type.Object(
          { q: Type.String({ minLength: 1, maxLength: 300, pattern: "^[^\\0]*$" }) },
          { additionalProperties: false },
        ),
        response: { 200: resultsSchema, ...errors },
      },
    },
    async ({ query }) => {
      const { hits, requestsFrom } = await searchEverything(dependencies, query.q);
      const data = hits.map((hit) => ({
        object: hit.kind,
        id: hit.id,
        name: hit.name,
        status: hit.status,
        account_id: hit.accountId,
        email: hit.email,
        request_id: hit.requestId,
        created_at: hit.createdAt.toISOString(),
      }));
      return { object: "list" as const, data, requests_from: requestsFrom?.toISOString() ?? null };
    },
  );
}
