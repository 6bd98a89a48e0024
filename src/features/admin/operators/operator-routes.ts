import { type Static, Type } from "typebox";
import type { UserId } from "../../../lib/ids.ts";
import { operatorRoles } from "../../../lib/operator-role.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { getActing, getAdminCaller } from "../edge/admin-caller.ts";
import { adminScopes, describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { grantOperator, revokeOperator } from "./grant-operator.ts";
import { listOperators, type Operator } from "./operator-store.ts";

const identitySchema = Type.Object({
  object: Type.Literal("identity"),
  kind: Type.Enum(["operator", "key"]),
  id: Type.String(),
  name: Type.String(),
  access: Type.Enum(["read", "write"]),
  scopes: Type.Array(Type.Enum([...adminScopes])),
});

const operatorSchema = Type.Object({
  object: Type.Literal("operator"),
  id: Type.String({ description: "The user." }),
  email: Type.String(),
  name: Type.Union([Type.String(), Type.Null()]),
  role: Type.Enum([...operatorRoles]),
  has_second_factor: Type.Boolean({ description: "Without one, the operator side stays closed to the user." }),
  granted_by: Type.String(),
  granted_at: Type.String({ format: "date-time" }),
  last_seen_at: Type.Union([Type.String({ format: "date-time" }), Type.Null()], {
    description: "To the minute. `null` if the user has no session.",
  }),
});

const grantSchema = Type.Object(
  {
    email: Type.String({ minLength: 1, maxLength: 254, pattern: "^[^\\0]*$" }),
    role: Type.Enum([...operatorRoles], { description: "`reader` can see everything and change nothing." }),
  },
  { additionalProperties: false },
);

export function addOperatorRoutes(http: HttpServer, dependencies: AdminDependencies): void {
  const identity = describeAdminEndpoint("getIdentity");
  http.get(
    "/identity",
    {
      config: identity.config,
      schema: {
        ...identity.schema,
        summary: "Get who calls",
        response: { 200: identitySchema, ...identity.errors },
      },
    },
    async (request) => presentIdentity(getAdminCaller(request)),
  );
  const list = describeAdminEndpoint("listOperators");
  http.get(
    "/operators",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List operators",
        response: {
          200: Type.Object({ object: Type.Literal("list"), data: Type.Array(operatorSchema) }),
          ...list.errors,
        },
      },
    },
    async () => ({
      object: "list" as const,
      data: (await listOperators(dependencies.database)).map(presentOperator),
    }),
  );
  const grant = describeAdminEndpoint("grantOperator");
  http.post(
    "/operators",
    {
      config: grant.config,
      schema: {
        ...grant.schema,
        summary: "Make a user an operator",
        description: "Or change the role. The user needs two-step sign-in to use it.",
        body: grantSchema,
        response: { 200: operatorSchema, ...grant.errors },
      },
    },
    async (request) => {
      const { email, role } = request.body;
      return presentOperator(
        await grantOperator(dependencies, { email, role, acting: getActing(request), reason: null }),
      );
    },
  );
  const revoke = describeAdminEndpoint("revokeOperator");
  http.delete(
    "/operators/:user_id",
    {
      config: revoke.config,
      schema: {
        ...revoke.schema,
        summary: "Revoke an operator's rights",
        params: pathParams({ user_id: "user" }),
        response: { 204: Type.Null(), ...revoke.errors },
      },
    },
    async (request, reply) => {
      const userId = request.params.user_id as UserId;
      await revokeOperator(dependencies.database, { userId, acting: getActing(request), reason: null });
      return reply.code(204).send(null);
    },
  );
}

function presentIdentity(caller: ReturnType<typeof getAdminCaller>): Static<typeof identitySchema> {
  if (caller.kind === "key") {
    const { id, name, access, scopes } = caller;
    return { object: "identity", kind: "key", id, name, access, scopes: [...scopes] };
  }
  const { session, role } = caller;
  const access = role === "operator" ? "write" : "read";
  return {
    ...{ object: "identity", kind: "operator", id: session.userId, name: session.email, access },
    scopes: [...adminScopes],
  };
}

function presentOperator(operator: Operator): Static<typeof operatorSchema> {
  return {
    object: "operator",
    id: operator.userId,
    email: operator.email,
    name: operator.name,
    role: operator.role,
    has_second_factor: operator.hasSecondFactor,
    granted_by: operator.grantedBy,
    granted_at: operator.grantedAt.toISOString(),
    last_seen_at: operator.lastSeenAt?.toISOString() ?? null,
  };
}
