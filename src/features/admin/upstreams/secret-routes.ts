import { type Static, Type } from "typebox";
import { hasSecret, presentReference } from "../../../platform/config/secrets.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { findCatalog, listNamedSecrets } from "../../catalog/index.ts";
import { listSecretVersions } from "../../secrets/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { getActing } from "../edge/admin-caller.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { reasonField } from "../edge/reason.ts";
import { rollBackSecretAsOperator, storeSecretAsOperator } from "./change-secret-as-operator.ts";
import { loadUpstreamSecrets } from "./load-upstream-secrets.ts";
import { checksSchema, presentFindings, words } from "./upstream-admin-schema.ts";

const time = Type.String({ format: "date-time" });
const maybeTime = Type.Union([time, Type.Null()]);
const closed = { additionalProperties: false };

const secretSchema = Type.Object({
  object: Type.Literal("upstream_secret"),
  id: Type.String(),
  source: Type.Enum(["database", "environment", "missing"]),
  is_unreadable: Type.Boolean({ description: "Another secret key sealed it." }),
  providers: Type.Array(Type.String()),
  versions: Type.Array(
    Type.Object({
      version: Type.Integer(),
      created_at: time,
      created_by: Type.String(),
      retired_at: maybeTime,
      last_used_at: maybeTime,
    }),
  ),
});

const secretListSchema = Type.Object({ object: Type.Literal("list"), data: Type.Array(secretSchema) });

const nameField = words(128, "As the catalog names it, such as OPENAI_KEY.");

const storeSchema = Type.Object(
  {
    name: nameField,
    value: Type.String({ minLength: 1, maxLength: 16_384, description: "No answer returns it." }),
    vendor: Type.Optional(words(64, "A ready catalog whose provider checks the key, before the catalog has it.")),
    base_url: Type.Optional(words(512, "With `vendor`: another address than the vendor's own.")),
    unchecked: Type.Optional(Type.Boolean({ description: "Stores it without asking the vendor." })),
    reason: reasonField,
  },
  closed,
);

const storedSchema = Type.Object({
  object: Type.Literal("stored_secret"),
  name: Type.String(),
  version: Type.Union([Type.Integer(), Type.Null()], { description: "`null`: a check failed, so nothing is stored." }),
  checks: checksSchema,
});

const rollbackSchema = Type.Object(
  { name: nameField, version: Type.Optional(Type.Integer({ minimum: 1 })), reason: reasonField },
  closed,
);

export function addSecretRoutes(http: HttpServer, dependencies: AdminDependencies): void {
  const list = describeAdminEndpoint("listSecrets");
  http.get(
    "/secrets",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List the keys of upstreams",
        description: "Names, versions and last use; never values.",
        response: { 200: secretListSchema, ...list.errors },
      },
    },
    async () => ({ object: "list" as const, data: await listSecrets(dependencies) }),
  );
  const store = describeAdminEndpoint("storeSecret");
  http.post(
    "/secrets",
    {
      config: store.config,
      schema: {
        ...store.schema,
        summary: "Store a key of an upstream",
        description: "Checks it with the vendor first. Every node uses it within a second.",
        body: storeSchema,
        response: { 200: storedSchema, ...store.errors },
      },
    },
    async (request) => {
      const { name, value, vendor = null, base_url: baseUrl = null, unchecked = false, reason } = request.body;
      const asked = { name, value, vendor, baseUrl, isUnchecked: unchecked, reason, acting: getActing(request) };
      const { version, checks } = await storeSecretAsOperator(dependencies, asked);
      return { object: "stored_secret" as const, name, version, checks: presentFindings(checks) };
    },
  );
  const rollBack = describeAdminEndpoint("rollBackSecret");
  http.post(
    "/secrets/rollbacks",
    {
      config: rollBack.config,
      schema: {
        ...rollBack.schema,
        summary: "Use an older version of a key again",
        body: rollbackSchema,
        response: { 200: storedSchema, ...rollBack.errors },
      },
    },
    async (request) => {
      const { name, version = null, reason } = request.body;
      const acting = getActing(request);
      const to = await rollBackSecretAsOperator(dependencies, { name, version, reason, acting });
      return { object: "stored_secret" as const, name, version: to, checks: [] };
    },
  );
}

async function listSecrets(dependencies: AdminDependencies): Promise<Static<typeof secretSchema>[]> {
  const { database } = dependencies;
  const named = listNamedSecrets(await findCatalog(database));
  const stored = Map.groupBy(await listSecretVersions(database), ({ name }) => name);
  const secrets = await loadUpstreamSecrets(dependencies);
  return [...new Set([...stored.keys(), ...named.keys()])].toSorted().map((name) => {
    const versions = stored.get(name) ?? [];
    return {
      ...{ object: "upstream_secret" as const, id: name, providers: [...(named.get(name) ?? [])] },
      source: versions.length > 0 ? "database" : hasSecret(name) ? "environment" : "missing",
      is_unreadable: secrets.isUnreadable(presentReference(name)),
      versions: versions.map((one) => ({
        ...{ version: one.version, created_by: one.createdBy, created_at: one.createdAt.toISOString() },
        ...{ retired_at: one.retiredAt?.toISOString() ?? null, last_used_at: one.lastUsedAt?.toISOString() ?? null },
      })),
    };
  });
}
