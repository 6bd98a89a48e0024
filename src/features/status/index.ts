/**
 * The status page: how well models and endpoints have answered, and the incidents that operators write.
 *
 * Promises: figures come from the request log, counted by a job, so neither calls nor views pay for them. The page names no
 * upstream, and no model that a new account does not see. It shows shares, never numbers of calls. A day without calls is shown
 * as one.
 */
export { countTraffic } from "./count-traffic.ts";
export { createStatusPage, type StatusPage } from "./create-status-page.ts";
export { type Incident, type IncidentState, incidentStates } from "./incident.ts";
export { findIncident, listIncidents } from "./incident-store.ts";
export { openIncident } from "./open-incident.ts";
export { addFeedRoute, addUptimeRoutes } from "./status-routes.ts";
export { presentStatus } from "./status-schema.ts";
export { sumPeriod, sumSlots, type TrafficSum } from "./traffic-store.ts";
export { updateIncident } from "./update-incident.ts";
