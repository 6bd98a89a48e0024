import { api, ask } from "./console-api.ts";

/** Public: models, prices and whether sign-up is open. */
export const getShowcase = () => ask(api.GET("/showcase"));

export const getStatus = () => ask(api.GET("/status"));

export type Showcase = Awaited<ReturnType<typeof getShowcase>>;
export type ServiceStatus = Awaited<ReturnType<typeof getStatus>>;
