import { api, ask } from "./console-api.ts";

export const listModels = () => ask(api.GET("/models"));

export const listPrices = () => ask(api.GET("/pricing/models"));

export const getModel = (id: string) => ask(api.GET("/models/{model_id}", { params: { path: { model_id: id } } }));

export type Model = Awaited<ReturnType<typeof listModels>>["data"][number];
export type ModelDetail = Awaited<ReturnType<typeof getModel>>;
export type PriceList = Awaited<ReturnType<typeof listPrices>>;
