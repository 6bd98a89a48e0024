import { api, ask } from "./console-api.ts";

/** Searches the account by id or words. */
export const searchAccount = (text: string) => ask(api.GET("/search", { params: { query: { q: text } } }));

export type SearchHit = Awaited<ReturnType<typeof searchAccount>>["data"][number];
