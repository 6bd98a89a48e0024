import { api, ask } from "./console-api.ts";

const pageSize = 50;
const keysMax = 100;

export const getKey = (id: string) => ask(api.GET("/keys/{id}", { params: { path: { id } } }));

export type ApiKey = Awaited<ReturnType<typeof getKey>>;

/** Includes the full key, which the API returns only once. */
export type NewApiKey = ApiKey & { key: string };

export const listLiveKeys = () => ask(api.GET("/keys", { params: { query: { limit: keysMax, status: "live" } } }));

export function listKeys(after: string | undefined, status: "live" | "ended") {
  const query = { status, limit: pageSize, ...(after === undefined ? {} : { after }) };
  return ask(api.GET("/keys", { params: { query } }));
}

/** Key names by id, including expired and revoked keys: their history refers to them. */
export async function listKeyNames(): Promise<Map<string, string>> {
  const { data } = await ask(api.GET("/keys", { params: { query: { limit: keysMax } } }));
  return new Map(data.map(({ id, name }) => [id, name]));
}
