import { api, ask } from "./console-api.ts";

/** What of the account an id or words lead to. */
export const searchAccount = (text: string) => ask(api.GET("/search", { params: { query: { q: text } } }));

export type SearchHit = Awaited<ReturnType<typeof searchAccount>>["data"][number];
