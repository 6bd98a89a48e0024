import { api, ask } from "./console-api.ts";

/** Public: how many calls were answered, by model and endpoint, and incidents. */
export const getUptime = () => ask(api.GET("/uptime"));

export type Uptime = Awaited<ReturnType<typeof getUptime>>;
export type UptimeLine = Uptime["endpoints"][number];
export type ShownIncident = Uptime["incidents"][number];
