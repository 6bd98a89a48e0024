import {
  type UseQueryOptions,
  type UseQueryResult,
  useQueries,
  useQuery,
  useSuspenseQuery,
} from "@tanstack/react-query";
import type { WholeQuery } from "./define-queries.ts";
import { hold } from "./pause-query.ts";
import { useRefreshPace } from "./use-live-changes.ts";

type Circumstances<Data> = {
  /**
   * Refetch interval while the page is visible, if shorter than the table's. With a change stream, polling slows down.
   */
  refreshMs?: number;
  isEnabled?: boolean;
  /** Whether change events leave the response alone. */
  isHeld?: boolean;
  /** Like `refreshMs`, depending on the last response and the number of fetches. */
  decideRefreshMs?(data: Data | undefined, answers: number): number | null;
};

/** A query of the table, kept current while a component shows it. */
export function useTableQuery<Data>(
  query: WholeQuery<Data>,
  circumstances: Circumstances<Data> = {},
): UseQueryResult<Data> {
  const { refreshMs, isEnabled = true, isHeld = false, decideRefreshMs } = circumstances;
  const options: UseQueryOptions<Data> = { ...query, ...hold(isHeld), enabled: isEnabled };
  if (refreshMs !== undefined) options.refetchInterval = refreshMs;
  if (decideRefreshMs !== undefined) {
    options.refetchInterval = ({ state }) => decideRefreshMs(state.data, state.dataUpdateCount) ?? false;
  }
  const { refetchInterval = false } = options;
  const pace = useRefreshPace(query.queryKey);
  options.refetchInterval = (asked) =>
    pace((typeof refetchInterval === "function" ? refetchInterval(asked) : refetchInterval) ?? false);
  return useQuery(options);
}

/** Several queries of one kind, in order. */
export function useTableQueries<Data>(queries: readonly WholeQuery<Data>[]): UseQueryResult<Data>[] {
  return useQueries({ queries: queries.map((query): UseQueryOptions<Data> => query) });
}

/** Like `useTableQuery`, for data a page cannot render without. */
export function useSuspenseTableQuery<Data>(query: WholeQuery<Data>) {
  return useSuspenseQuery(query);
}
