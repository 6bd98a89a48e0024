import { queryOptions } from "@tanstack/react-query";
import { api, ask } from "./console-api.ts";

/** The server answers from memory for a few seconds; asking much more often would tell nothing new. */
const refreshMs = 30_000;

const getShowcase = () => ask(api.GET("/showcase"));
const getStatus = () => ask(api.GET("/status"));

export type Showcase = Awaited<ReturnType<typeof getShowcase>>;
export type ServiceStatus = Awaited<ReturnType<typeof getStatus>>;

/** What everybody may know of the service: its models, their prices, and whether one can sign up. */
export const showcaseQuery = queryOptions({ queryKey: ["showcase"], queryFn: getShowcase, staleTime: refreshMs });

/** How the service is at the moment. */
export const statusQuery = queryOptions({
  queryKey: ["status"],
  queryFn: getStatus,
  staleTime: refreshMs,
  refetchInterval: refreshMs,
});
