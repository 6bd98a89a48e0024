import { queryOptions } from "@tanstack/react-query";
import { api, ask } from "./console-api.ts";

/** The account with its plan and with what holds for all its keys together. */
export const accountQuery = queryOptions({ queryKey: ["account"], queryFn: () => ask(api.GET("/account")) });
