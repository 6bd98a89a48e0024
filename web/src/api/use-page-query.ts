import { useInfiniteQuery } from "@tanstack/react-query";
import type { PagedQuery } from "./define-queries.ts";
import { hold } from "./pause-query.ts";
import { useRefreshPace } from "./use-live-changes.ts";

type Refresh<Item> = {
  /** Refetch interval in milliseconds; `null` while no row can change. */
  decideRefreshMs?(rows: readonly Item[]): number | null;
  /** Whether change events leave the rows alone. */
  isHeld?: boolean;
};

/** The rows of a paged list loaded so far. */
export function usePageQuery<Item extends { id: string }>(
  listQuery: PagedQuery<Item>,
  { decideRefreshMs = () => null, isHeld = false }: Refresh<Item> = {},
) {
  const pace = useRefreshPace(listQuery.queryKey);
  const query = useInfiniteQuery({
    ...listQuery,
    ...hold(isHeld),
    refetchInterval: ({ state }) => {
      const pages = state.data?.pages ?? [];
      const refreshMs = decideRefreshMs(pages.flatMap(({ data }) => data));
      // A refetch loads every page, so longer lists refetch less often.
      return pace(refreshMs === null ? false : refreshMs * pages.length);
    },
  });
  return {
    rows: query.data?.pages.flatMap(({ data }) => data),
    error: query.error,
    onRetry: () => void query.refetch(),
    more: {
      hasMore: query.hasNextPage,
      isBusy: query.isFetchingNextPage,
      onMore: () => void query.fetchNextPage(),
    },
  };
}
