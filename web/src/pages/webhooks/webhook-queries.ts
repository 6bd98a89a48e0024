import { queryOptions } from "@tanstack/react-query";
import { api, ask } from "../../api/console-api.ts";

/** All of them: an account has at most 20. */
const endpointsMax = 100;
const recentMax = 20;
const pageSize = 20;
const eventPageSize = 10;
/** While something is on its way, its outcome is worth asking for. */
export const refreshMs = 2_000;

const listEndpoints = () => ask(api.GET("/webhook_endpoints", { params: { query: { limit: endpointsMax } } }));
const getEndpoint = (id: string) => ask(api.GET("/webhook_endpoints/{id}", { params: { path: { id } } }));

export type Endpoint = Awaited<ReturnType<typeof getEndpoint>>;
export type Delivery = Awaited<ReturnType<typeof listDeliveries>>["data"][number];
export type WebhookEvent = Awaited<ReturnType<typeof listEvents>>["data"][number];
export type EventType = Exclude<WebhookEvent["type"], "webhook.test">;

export const endpointsQuery = queryOptions({ queryKey: ["webhooks", "endpoints"], queryFn: listEndpoints });

export function endpointQuery(id: string) {
  return queryOptions({ queryKey: ["webhooks", "endpoint", id], queryFn: () => getEndpoint(id) });
}

export function isUnderWay({ status }: Pick<Delivery, "status">): boolean {
  return status === "pending";
}

/** What an endpoint got of late, for how it does. */
export function recentDeliveriesQuery(id: string) {
  return queryOptions({
    queryKey: ["webhooks", "recent", id],
    queryFn: async () => (await listDeliveries(id, { limit: recentMax })).data,
    refetchInterval: ({ state }) => (state.data?.some(isUnderWay) === true ? refreshMs : false),
  });
}

export function eventDeliveriesQuery(eventId: string) {
  return queryOptions({
    queryKey: ["webhooks", "event", eventId],
    queryFn: () =>
      ask(api.GET("/events/{id}/deliveries", { params: { path: { id: eventId }, query: { limit: pageSize } } })),
    refetchInterval: ({ state }) => (state.data?.data.some(isUnderWay) === true ? refreshMs : false),
  });
}

type DeliveryPage = {
  limit?: number;
  after?: string | undefined;
  status?: "pending" | "succeeded" | "failed" | "dropped" | undefined;
};

export function listDeliveries(id: string, { limit = pageSize, after, status }: DeliveryPage) {
  const query = {
    limit,
    ...(after === undefined ? {} : { after }),
    ...(status === undefined ? {} : { status }),
  };
  return ask(api.GET("/webhook_endpoints/{id}/deliveries", { params: { path: { id }, query } }));
}

export function listEvents(after: string | undefined) {
  const query = { limit: eventPageSize, ...(after === undefined ? {} : { after }) };
  return ask(api.GET("/events", { params: { query } }));
}
