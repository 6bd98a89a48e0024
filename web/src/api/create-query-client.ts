import { MutationCache, onlineManager, QueryCache, QueryClient } from "@tanstack/react-query";
import { computeBackoffMs } from "./compute-backoff.ts";
import { ApiError, connection, isUnreachable } from "./console-api.ts";

/** Where the server answers, but not with what was asked for. */
const retriesMax = 2;
/** Where a request got no answer although the server gives others. */
const unreachableRetriesMax = 5;

type QueryClientDependencies = { onNotSignedIn(): void };

/** The cache of all answers, and how failures are met. While the server is away, queries wait for its return. */
export function createQueryClient({ onNotSignedIn }: QueryClientDependencies): QueryClient {
  onlineManager.setEventListener((setOnline) =>
    connection.subscribe(() => setOnline(connection.getState() === "connected")),
  );
  addEventListener("offline", connection.suspect);
  addEventListener("online", connection.hurry);
  const onError = (error: Error): void => {
    if (error instanceof ApiError && error.code === "not_signed_in") onNotSignedIn();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: { retry: isWorthRetrying, retryDelay: (attempt) => computeBackoffMs(attempt, Math.random) },
      // Whoever presses a button hears at once that it did not work, instead of its being done at some later time.
      mutations: { networkMode: "always" },
    },
  });
}

/** What the server refuses, it refuses again; what it failed at may work in a moment. */
function isWorthRetrying(count: number, error: Error): boolean {
  if (isUnreachable(error)) return count < unreachableRetriesMax;
  const isRefusal = error instanceof ApiError && error.status < 500;
  return !isRefusal && count < retriesMax;
}
