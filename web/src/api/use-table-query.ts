import {
  type UseQueryOptions,
  type UseQueryResult,
  useQueries,
  useQuery,
  useSuspenseQuery,
} from "@tanstack/react-query";
import type { WholeQuery } from "./define-queries.ts";
import { hold } from "./hold-query.ts";
import { useRefreshPace } from "./use-live-changes.ts";

type Circumstances<Data> = {
  /**
   * How often it is worth asking again while the page is looked at; more often than the table says. What the server
   * tells of is asked for so often only while it does not.
   */
  refreshMs?: number;
  isEnabled?: boolean;
  /** Whether the answer stays as it is, also when the server tells of another. */
  isHeld?: boolean;
  /** As `refreshMs`, where it depends on the last answer, and on how many there were. */
  decideRefreshMs?(data: Data | undefined, answers: number): number | null;
};

/** The answer to a query of the table, kept up to date while a component shows it. */
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

/** The answers to several queries of one kind, in their order. */
export function useTableQueries<Data>(queries: readonly WholeQuery<Data>[]): UseQueryResult<Data>[] {
  return useQueries({ queries: queries.map((query): UseQueryOptions<Data> => query) });
}

/** As `useTableQuery`, for what a page cannot begin without. */
export function useSuspenseTableQuery<Data>(query: WholeQuery<Data>) {
  return useSuspenseQuery(query);
}
