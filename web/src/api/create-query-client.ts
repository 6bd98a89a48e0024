import { MutationCache, onlineManager, QueryCache, QueryClient } from "@tanstack/react-query";
import { computeBackoffMs } from "./compute-backoff.ts";
import { ApiError, connection, isUnreachable } from "./console-api.ts";

/** Retries after an error response. */
const retriesMax = 2;
/** Retries without a response while other requests succeed. */
const unreachableRetriesMax = 5;

type QueryClientDependencies = { onNotSignedIn(): void };

/** While the server is unreachable, queries wait for its return. */
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
      // Mutations fail at once instead of being sent later, when the user no longer expects it.
      mutations: { networkMode: "always" },
    },
  });
}

/** A 4xx fails again on retry; a 5xx may not. */
function isWorthRetrying(count: number, error: Error): boolean {
  if (isUnreachable(error)) return count < unreachableRetriesMax;
  const isRefusal = error instanceof ApiError && error.status < 500;
  return !isRefusal && count < retriesMax;
}
