import { type Static, Type } from "typebox";
import type { StatusView, UptimeLine } from "./create-status-page.ts";
import { type Incident, incidentStates } from "./incident.ts";
import { dayStates, serviceStates } from "./judge-traffic.ts";

const moment = Type.String({ format: "date-time" });
const state = Type.Enum([...serviceStates]);
const uptime = Type.Union([Type.Number({ minimum: 0, maximum: 100 }), Type.Null()], {
  description: "Answered calls in percent, rounded down. `null` with fewer than 20 calls.",
});

const line = {
  id: Type.String(),
  name: Type.String(),
  state,
  uptime,
  days: Type.Array(
    Type.Object({
      state: Type.Enum([...dayStates], { description: "`none`: no calls. `few`: fewer than 20 calls." }),
      uptime,
    }),
    { description: "Oldest first; the last one is today (UTC)." },
  ),
};

const shownIncidentSchema = Type.Object({
  id: Type.String(),
  title: Type.String(),
  state: Type.Enum([...incidentStates]),
  models: Type.Array(Type.String(), { description: "Affected models. Empty: the whole service." }),
  began_at: moment,
  ended_at: Type.Union([moment, Type.Null()]),
  updates: Type.Array(
    Type.Object({ state: Type.Enum([...incidentStates]), message: Type.String(), created_at: moment }),
    { description: "Newest first." },
  ),
});

export const uptimeSchema = Type.Object({
  object: Type.Literal("uptime"),
  state,
  at: moment,
  first_day: Type.String({ examples: ["2027-01-31"] }),
  models: Type.Array(Type.Object({ ...line, type: Type.String() })),
  endpoints: Type.Array(Type.Object(line)),
  incidents: Type.Array(shownIncidentSchema),
});

export function presentStatus(view: StatusView): Static<typeof uptimeSchema> {
  return {
    object: "uptime",
    state: view.state,
    at: view.at.toISOString(),
    first_day: view.firstDay,
    models: view.models.map((model) => ({ ...presentLine(model), type: model.type })),
    endpoints: view.endpoints.map(presentLine),
    incidents: view.incidents.map(presentIncident),
  };
}

function presentLine({ id, name, state: current, uptime: share, days }: UptimeLine) {
  return { id, name, state: current, uptime: share, days: [...days] };
}

/** Without the names of the operators who wrote it. */
export function presentIncident(incident: Incident): Static<typeof shownIncidentSchema> {
  return {
    id: incident.id,
    title: incident.title,
    state: incident.state,
    models: [...incident.modelIds],
    began_at: incident.beganAt.toISOString(),
    ended_at: incident.endedAt?.toISOString() ?? null,
    updates: incident.updates.toReversed().map(({ state: reached, message, createdAt }) => ({
      ...{ state: reached, message, created_at: createdAt.toISOString() },
    })),
  };
}
