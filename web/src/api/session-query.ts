import { queryOptions } from "@tanstack/react-query";
import { ApiError, api, ask } from "./console-api.ts";

/** What the site allows, whoever asks. */
export const siteQuery = queryOptions({
  queryKey: ["site"],
  queryFn: () => ask(api.GET("/site")),
  staleTime: Number.POSITIVE_INFINITY,
});

export type Session = Awaited<ReturnType<typeof getSession>>;

const getSession = () => ask(api.GET("/session"));

/** Who is signed in, or nobody. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: async (): Promise<Session | null> => {
    try {
      return await getSession();
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 30_000,
});
