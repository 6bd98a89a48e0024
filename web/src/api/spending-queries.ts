import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, ask } from "./console-api.ts";

/** What of an account's charges is asked for: a time, a model, a key. */
export type ChargeFilter = { from?: string; to?: string; model?: string; key_id?: string };
export type UsageQuestion = ChargeFilter & { group_by: string };

const getUsage = (query: UsageQuestion) => ask(api.GET("/usage", { params: { query } }));
const getCharge = (id: string) => ask(api.GET("/charges/{charge_id}", { params: { path: { charge_id: id } } }));
const listBuckets = () => ask(api.GET("/buckets"));
const listHolds = () => ask(api.GET("/holds", { params: { query: { limit: 5 } } }));

export const listCharges = (query: ChargeFilter & { limit?: number; after?: string }) =>
  ask(api.GET("/charges", { params: { query } }));

export type Usage = Awaited<ReturnType<typeof getUsage>>;
export type Charge = Awaited<ReturnType<typeof listCharges>>["data"][number];
export type ExplainedCharge = Awaited<ReturnType<typeof getCharge>>;
export type Bucket = Awaited<ReturnType<typeof listBuckets>>["data"][number];
export type Hold = Awaited<ReturnType<typeof listHolds>>["data"][number];

/** While another time or filter is on its way, what was shown stays. */
export function usageQuery(question: UsageQuestion) {
  return queryOptions({
    queryKey: ["usage", question],
    queryFn: () => getUsage(question),
    placeholderData: keepPreviousData,
  });
}

export function chargeQuery(id: string) {
  return queryOptions({ queryKey: ["charge", id], queryFn: () => getCharge(id) });
}

/** What the balance is made of. */
export const bucketsQuery = queryOptions({ queryKey: ["balance", "buckets"], queryFn: listBuckets });

/** What is frozen, and for what. */
export const holdsQuery = queryOptions({ queryKey: ["balance", "holds"], queryFn: listHolds });

const keysMax = 100;

/** How people call their keys, by their ids; those that have ended too, because they have a history. */
export const keyNamesQuery = queryOptions({
  queryKey: ["keys", "names"],
  queryFn: async () => {
    const { data } = await ask(api.GET("/keys", { params: { query: { limit: keysMax } } }));
    return new Map(data.map(({ id, name }) => [id, name]));
  },
  staleTime: 30_000,
});
