import { useInfiniteQuery } from "@tanstack/react-query";
import type { PagedQuery } from "./define-queries.ts";
import { hold } from "./hold-query.ts";
import { useRefreshPace } from "./use-live-changes.ts";

type Refresh<Item> = {
  /** In how many milliseconds the rows are worth asking for again; `null` while nothing about them can change. */
  decideRefreshMs?(rows: readonly Item[]): number | null;
  /** Whether the rows stay as they are, also when the server tells of others. */
  isHeld?: boolean;
};

/** The rows of a list that comes in pages, as far as they were asked for. */
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
      // Every page is asked for anew, so that who has opened many asks less often.
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
