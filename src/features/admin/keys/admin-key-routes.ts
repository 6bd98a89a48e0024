import { type Static, Type } from "typebox";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import { createPageSchema, listFields, presentPage } from "../../usage/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { getActing } from "../edge/admin-caller.ts";
import { adminScopes, describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { momentField, parseMoment } from "../edge/moment-field.ts";
import { type AdminKey, adminKeyPrefix } from "./admin-key.ts";
import { listAdminKeys } from "./admin-key-store.ts";
import { createAdminKey, revokeAdminKey } from "./change-admin-keys.ts";

const maybeTime = Type.Union([Type.String({ format: "date-time" }), Type.Null()]);
const access = Type.Enum(["read", "write"]);

const keySchema = Type.Object({
  object: Type.Literal("admin_key"),
  id: Type.String(),
  name: Type.String(),
  preview: Type.String({ examples: ["sk-adm-…x1Yz"] }),
  access,
  scopes: Type.Array(Type.Enum([...adminScopes])),
  created_by: Type.String(),
  created_at: Type.String({ format: "date-time" }),
  expires_at: maybeTime,
  last_used_at: maybeTime,
  revoked_at: maybeTime,
});

const newKeySchema = Type.Object({
  ...keySchema.properties,
  key: Type.String({ description: "The key. It is shown once and not stored." }),
});

const creationSchema = Type.Object(
  {
    name: Type.String({ maxLength: 400, description: "1 to 100 characters." }),
    access,
    scopes: Type.Optional(
      Type.Array(Type.Enum([...adminScopes]), {
        minItems: 1,
        maxItems: adminScopes.length,
        description: "Default: all.",
      }),
    ),
    expires_at: momentField("Default: never."),
  },
  { additionalProperties: false },
);

export function addAdminKeyRoutes(http: HttpServer, dependencies: AdminDependencies): void {
  const list = describeAdminEndpoint("listAdminKeys");
  http.get(
    "/keys",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List admin keys",
        querystring: Type.Object(listFields("^akey_[0-9a-z]{1,64}$"), { additionalProperties: false }),
        response: { 200: createPageSchema(keySchema), ...list.errors },
      },
    },
    async ({ query: { limit = 20, after = null } }) =>
      presentPage(await listAdminKeys(dependencies.database, { after, limit: limit + 1 }), limit, presentKey),
  );
  const create = describeAdminEndpoint("createAdminKey");
  http.post(
    "/keys",
    {
      config: create.config,
      schema: {
        ...create.schema,
        summary: "Create an admin key",
        body: creationSchema,
        response: { 201: newKeySchema, ...create.errors },
      },
    },
    async (request, reply) => {
      const { name, access: granted, scopes = [], expires_at: expiry } = request.body;
      const expiresAt = parseMoment(expiry, "expires_at");
      const asked = { name, access: granted, scopes, expiresAt, acting: getActing(request) };
      const { key, text } = await createAdminKey(dependencies, asked);
      return reply.code(201).send({ ...presentKey(key), key: text });
    },
  );
  const revoke = describeAdminEndpoint("revokeAdminKey");
  http.post(
    "/keys/:key_id/revoke",
    {
      config: revoke.config,
      schema: {
        ...revoke.schema,
        summary: "Revoke an admin key",
        params: pathParams({ key_id: "adminKey" }),
        body: Type.Object({}, { additionalProperties: false }),
        response: { 200: keySchema, ...revoke.errors },
      },
    },
    async (request) =>
      presentKey(await revokeAdminKey(dependencies, { id: request.params.key_id, acting: getActing(request) })),
  );
}

function presentKey(key: AdminKey): Static<typeof keySchema> {
  return {
    object: "admin_key",
    id: key.id,
    name: key.name,
    preview: `${adminKeyPrefix}…${key.lastFour}`,
    access: key.access,
    scopes: [...key.scopes],
    created_by: key.createdBy,
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
  };
}
