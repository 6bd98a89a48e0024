import { queryOptions } from "@tanstack/react-query";
import { api, ask } from "./console-api.ts";

/** The catalog changes seldom; a page that was left and found again need not wait for it. */
const staleMs = 60_000;

const listModels = () => ask(api.GET("/models"));
const listPrices = () => ask(api.GET("/pricing/models"));
const getModel = (id: string) => ask(api.GET("/models/{model_id}", { params: { path: { model_id: id } } }));

export type Model = Awaited<ReturnType<typeof listModels>>["data"][number];
export type ModelDetail = Awaited<ReturnType<typeof getModel>>;
export type PriceList = Awaited<ReturnType<typeof listPrices>>;

/** Every model that the account may use. */
export const modelsQuery = queryOptions({ queryKey: ["models"], queryFn: listModels, staleTime: staleMs });

/** What each of them costs the account. */
export const pricesQuery = queryOptions({ queryKey: ["prices"], queryFn: listPrices, staleTime: staleMs });

/** One model with what a call may ask of it. */
export function modelQuery(id: string) {
  return queryOptions({ queryKey: ["models", id], queryFn: () => getModel(id), staleTime: staleMs });
}
