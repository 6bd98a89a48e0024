import { queryOptions } from "@tanstack/react-query";
import { api, ask } from "./console-api.ts";

/** What the account has, as it was a moment ago; whatever spends says so by `invalidateQueries`. */
export const balanceQuery = queryOptions({
  queryKey: ["balance"],
  queryFn: () => ask(api.GET("/balance")),
  staleTime: 10_000,
});
