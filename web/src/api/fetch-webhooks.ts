import { api, ask } from "./console-api.ts";

/** An account has at most 20, so one page holds all. */
const endpointsMax = 100;
const recentMax = 20;
const pageSize = 20;
const eventPageSize = 10;

export const listEndpoints = () => ask(api.GET("/webhook_endpoints", { params: { query: { limit: endpointsMax } } }));
export const getEndpoint = (id: string) => ask(api.GET("/webhook_endpoints/{id}", { params: { path: { id } } }));
export const getInbox = () => ask(api.GET("/event_inbox"));

export type Endpoint = Awaited<ReturnType<typeof getEndpoint>>;
export type Delivery = Awaited<ReturnType<typeof listDeliveries>>["data"][number];
export type WebhookEvent = Awaited<ReturnType<typeof listEvents>>["data"][number];
export type EventType = Exclude<WebhookEvent["type"], "webhook.test">;

export function isUnderWay({ status }: Pick<Delivery, "status">): boolean {
  return status === "pending";
}

/** The endpoint's latest deliveries. */
export async function listRecentDeliveries(id: string): Promise<Delivery[]> {
  const call = api.GET("/webhook_endpoints/{id}/deliveries", { params: { path: { id }, query: { limit: recentMax } } });
  return (await ask(call)).data;
}

export const listEventDeliveries = (eventId: string) =>
  ask(api.GET("/events/{id}/deliveries", { params: { path: { id: eventId }, query: { limit: pageSize } } }));

type DeliveryFilter = { id: string; status?: "pending" | "succeeded" | "failed" | "dropped" | undefined };

export function listDeliveries(after: string | undefined, { id, status }: DeliveryFilter) {
  const query = {
    limit: pageSize,
    ...(after === undefined ? {} : { after }),
    ...(status === undefined ? {} : { status }),
  };
  return ask(api.GET("/webhook_endpoints/{id}/deliveries", { params: { path: { id }, query } }));
}

export function listEvents(after: string | undefined) {
  const query = { limit: eventPageSize, ...(after === undefined ? {} : { after }) };
  return ask(api.GET("/events", { params: { query } }));
}
