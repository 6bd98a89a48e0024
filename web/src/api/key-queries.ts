import { queryOptions } from "@tanstack/react-query";
import { api, ask } from "./console-api.ts";

const getKey = (id: string) => ask(api.GET("/keys/{id}", { params: { path: { id } } }));

export type ApiKey = Awaited<ReturnType<typeof getKey>>;

/** A key whose text is known, this once. */
export type NewApiKey = ApiKey & { key: string };

const pageSize = 50;

export function listKeys(status: "live" | "ended", after: string | undefined) {
  const query = { status, limit: pageSize, ...(after === undefined ? {} : { after }) };
  return ask(api.GET("/keys", { params: { query } }));
}

export function keyQuery(id: string) {
  return queryOptions({ queryKey: ["keys", "one", id], queryFn: () => getKey(id) });
}
