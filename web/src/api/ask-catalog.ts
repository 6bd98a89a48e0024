import { api, ask } from "./console-api.ts";

/** Every model that the account may use. */
export const listModels = () => ask(api.GET("/models"));

/** What each of them costs the account. */
export const listPrices = () => ask(api.GET("/pricing/models"));

/** One model with what a call may ask of it. */
export const getModel = (id: string) => ask(api.GET("/models/{model_id}", { params: { path: { model_id: id } } }));

export type Model = Awaited<ReturnType<typeof listModels>>["data"][number];
export type ModelDetail = Awaited<ReturnType<typeof getModel>>;
export type PriceList = Awaited<ReturnType<typeof listPrices>>;
