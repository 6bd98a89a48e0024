import { type Static, Type } from "typebox";
import { type Database, inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import { appendAudit } from "../../audit/index.ts";
import { findCatalog } from "../../catalog/index.ts";
import {
  findIncident,
  type Incident,
  incidentStates,
  listIncidents,
  openIncident,
  updateIncident,
} from "../../status/index.ts";
import { createPageSchema, listFields, presentPage } from "../../usage/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { getActing, nameActor } from "../edge/admin-caller.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";

const moment = Type.String({ format: "date-time" });
const text = (charactersMax: number, description: string) =>
  Type.String({ minLength: 1, maxLength: charactersMax, pattern: "^[^\\0]*$", description });
const models = Type.Array(Type.String({ minLength: 1, maxLength: 200, pattern: "^[^\\0]*$" }), {
  maxItems: 100,
  description: "Ids of affected models. Empty: the whole service.",
});
const message = text(5000, "What customers read.");
const title = text(200, "One line.");

const incidentSchema = Type.Object({
  object: Type.Literal("incident"),
  id: Type.String(),
  title: Type.String(),
  status: Type.Enum([...incidentStates]),
  models: Type.Array(Type.String()),
  began_at: moment,
  ended_at: Type.Union([moment, Type.Null()]),
  updates: Type.Array(
    Type.Object({
      status: Type.Enum([...incidentStates]),
      message: Type.String(),
      created_at: moment,
      created_by: Type.String({ description: "Not shown on the status page." }),
    }),
    { description: "Newest first." },
  ),
});

const openSchema = Type.Object(
  {
    title,
    message,
    status: Type.Optional(Type.Enum(["investigating", "identified", "monitoring"], { default: "investigating" })),
    models: Type.Optional(models),
  },
  { additionalProperties: false },
);

const updateSchema = Type.Object(
  {
    status: Type.Enum([...incidentStates], { description: "`resolved` ends the incident for good." }),
    message,
    title: Type.Optional(title),
    models: Type.Optional(models),
  },
  { additionalProperties: false },
);

const params = pathParams({ incident_id: "incident" });
const usualLimit = 20;

type IncidentDependencies = Pick<AdminDependencies, "database" | "clock" | "ids">;

export function addIncidentAdminRoutes(http: HttpServer, { database, clock, ids }: IncidentDependencies): void {
  const list = describeAdminEndpoint("listIncidents");
  http.get(
    "/incidents",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List incidents",
        querystring: Type.Object(listFields("^inc_[0-9a-z]{1,64}$"), { additionalProperties: false }),
        response: { 200: createPageSchema(incidentSchema), ...list.errors },
      },
    },
    async ({ query: { limit = usualLimit, after = null } }) =>
      presentPage(await listIncidents(database, { after, limit: limit + 1 }), limit, presentIncident),
  );
  const get = describeAdminEndpoint("getIncident");
  http.get(
    "/incidents/:incident_id",
    {
      config: get.config,
      schema: { ...get.schema, summary: "Get an incident", params, response: { 200: incidentSchema, ...get.errors } },
    },
    async ({ params: { incident_id: id } }) => {
      const incident = await findIncident(database, id);
      if (incident === null) throw new AppError("not_found", "There is no such incident.");
      return presentIncident(incident);
    },
  );
  const open = describeAdminEndpoint("createIncident");
  http.post(
    "/incidents",
    {
      config: open.config,
      schema: {
        ...open.schema,
        summary: "Publish an incident on the status page",
        body: openSchema,
        response: { 201: incidentSchema, ...open.errors },
      },
    },
    async (request, reply) => {
      const { title: line, message: words, status = "investigating", models: modelIds = [] } = request.body;
      const acting = getActing(request);
      const hasModel = await readModels(database);
      const incident = await inTransaction(database, async (tx) => {
        const actor = nameActor(acting.actor);
        const opening = { title: line, message: words, state: status, modelIds, actor };
        const opened = await openIncident({ database: tx, clock, ids, hasModel }, opening);
        await appendAudit(tx, {
          ...{ ...acting, action: "incident.opened", subject: opened.id, accountId: null, reason: null, before: null },
          after: { title: opened.title, status, models: opened.modelIds, message: words },
        });
        return opened;
      });
      return reply.code(201).send(presentIncident(incident));
    },
  );
  const update = describeAdminEndpoint("updateIncident", ["already_ended"]);
  http.post(
    "/incidents/:incident_id/updates",
    {
      config: update.config,
      schema: {
        ...update.schema,
        summary: "Add an update to an incident",
        params,
        body: updateSchema,
        response: { 200: incidentSchema, ...update.errors },
      },
    },
    async (request) => {
      const { status, message: words, title: line, models: modelIds } = request.body;
      const { incident_id: id } = request.params;
      const acting = getActing(request);
      const hasModel = await readModels(database);
      return await inTransaction(database, async (tx) => {
        const before = await findIncident(tx, id);
        const change = { state: status, message: words, title: line, modelIds, actor: nameActor(acting.actor) };
        const changed = await updateIncident({ database: tx, clock, hasModel }, id, change);
        await appendAudit(tx, {
          ...{ ...acting, action: "incident.updated", subject: id, accountId: null, reason: null },
          before: { title: before?.title ?? null, status: before?.state ?? null, models: before?.modelIds ?? null },
          after: { title: changed.title, status, models: changed.modelIds, message: words },
        });
        return presentIncident(changed);
      });
    },
  );
}

async function readModels(database: Database): Promise<(id: string) => boolean> {
  const catalog = await findCatalog(database);
  const known = new Set(catalog?.models.map(({ id }) => id));
  return (id) => known.has(id);
}

function presentIncident(incident: Incident): Static<typeof incidentSchema> {
  return {
    ...{ object: "incident", id: incident.id, title: incident.title, status: incident.state },
    models: [...incident.modelIds],
    began_at: incident.beganAt.toISOString(),
    ended_at: incident.endedAt?.toISOString() ?? null,
    updates: incident.updates.toReversed().map(({ state, message: words, createdAt, createdBy }) => ({
      ...{ status: state, message: words, created_at: createdAt.toISOString(), created_by: createdBy },
    })),
  };
}
