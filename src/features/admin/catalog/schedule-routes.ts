import { type Static, Type } from "typebox";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import { createPageSchema, listFields, presentPage } from "../../usage/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { getActing } from "../edge/admin-caller.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { parseMoment } from "../edge/moment-field.ts";
import { reasonField } from "../edge/reason.ts";
import { catalogBytesMax, outcomeSchema, presentOutcome, sourceField } from "./catalog-admin-schema.ts";
import { cancelSchedule, scheduleCatalog } from "./schedule-catalog.ts";
import { listSchedules, type ScheduledCatalog, scheduleStatuses } from "./schedule-store.ts";

const closed = { additionalProperties: false };
const time = Type.String({ format: "date-time" });
const maybeText = Type.Union([Type.String(), Type.Null()]);

const scheduleSchema = Type.Object({
  object: Type.Literal("scheduled_catalog"),
  id: Type.String(),
  status: Type.Enum([...scheduleStatuses]),
  run_at: time,
  reason: Type.String(),
  base_version: Type.Integer(),
  created_at: time,
  created_by: Type.String(),
  version: Type.Union([Type.Integer(), Type.Null()], { description: "The version that it became." }),
  failure: Type.Union([Type.String(), Type.Null()], { description: "Why it was not applied." }),
  finished_at: maybeText,
});

const scheduleBodySchema = Type.Object(
  {
    catalog: sourceField,
    run_at: Type.String({ maxLength: 40, examples: ["2027-01-01T00:00:00Z"] }),
    reason: reasonField,
  },
  closed,
);

const scheduledSchema = Type.Object({
  object: Type.Literal("catalog_schedule"),
  check: outcomeSchema,
  scheduled: Type.Union([scheduleSchema, Type.Null()], { description: "`null` if a check failed." }),
});

/** Changes of the catalog at a time. */
export function addScheduleRoutes(http: HttpServer, dependencies: AdminDependencies): void {
  const { database } = dependencies;
  const list = describeAdminEndpoint("listScheduledCatalogs");
  http.get(
    "/catalog/schedules",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List scheduled changes of the catalog",
        querystring: Type.Object({ ...listFields("^csch_[0-9a-z]{1,64}$") }, closed),
        response: { 200: createPageSchema(scheduleSchema), ...list.errors },
      },
    },
    async ({ query: { limit = 20, after = null } }) =>
      presentPage(await listSchedules(database, { after, limit: limit + 1 }), limit, presentSchedule),
  );
  const schedule = describeAdminEndpoint("scheduleCatalog");
  http.post(
    "/catalog/schedules",
    {
      bodyLimit: 2 * catalogBytesMax,
      config: schedule.config,
      schema: {
        ...schedule.schema,
        summary: "Schedule a catalog file",
        description:
          "A job checks and applies it once, within a minute after the time. A file that fails then changes nothing.",
        body: scheduleBodySchema,
        response: { 200: scheduledSchema, ...schedule.errors },
      },
    },
    async (request) => {
      const { catalog: source, run_at: text, reason } = request.body;
      const runAt = parseMoment(text, "run_at");
      if (runAt === null) throw new AppError("missing_parameter", "Send `run_at`.", { param: "run_at" });
      const asked = { source, runAt, reason, acting: getActing(request) };
      const { outcome, scheduled } = await scheduleCatalog(dependencies, asked);
      return {
        object: "catalog_schedule" as const,
        check: presentOutcome(outcome),
        scheduled: scheduled === null ? null : presentSchedule(scheduled),
      };
    },
  );
  const cancel = describeAdminEndpoint("cancelScheduledCatalog");
  http.post(
    "/catalog/schedules/:schedule_id/cancel",
    {
      config: cancel.config,
      schema: {
        ...cancel.schema,
        summary: "Cancel a scheduled change",
        params: pathParams({ schedule_id: "scheduledCatalog" }),
        body: Type.Object({ reason: reasonField }, closed),
        response: { 200: scheduleSchema, ...cancel.errors },
      },
    },
    async (request) => {
      const asked = { id: request.params.schedule_id, reason: request.body.reason, acting: getActing(request) };
      return presentSchedule(await cancelSchedule(dependencies, asked));
    },
  );
}

function presentSchedule(one: ScheduledCatalog): Static<typeof scheduleSchema> {
  return {
    ...{ object: "scheduled_catalog" as const, id: one.id, status: one.status, run_at: one.runAt.toISOString() },
    ...{ reason: one.reason, base_version: one.baseVersion, version: one.version, failure: one.failure },
    ...{ created_at: one.createdAt.toISOString(), created_by: one.createdBy },
    finished_at: one.finishedAt?.toISOString() ?? null,
  };
}
