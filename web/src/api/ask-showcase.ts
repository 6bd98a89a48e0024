import { api, ask } from "./console-api.ts";

/** What everybody may know of the service: its models, their prices, and whether one can sign up. */
export const getShowcase = () => ask(api.GET("/showcase"));

/** How the service is at the moment. */
export const getStatus = () => ask(api.GET("/status"));

export type Showcase = Awaited<ReturnType<typeof getShowcase>>;
export type ServiceStatus = Awaited<ReturnType<typeof getStatus>>;
