import { type QueryKey, useInfiniteQuery } from "@tanstack/react-query";

type Page<Item> = { data: Item[]; has_more: boolean };

type Refresh<Item> = {
  /** In how many milliseconds the rows are worth asking for again; `null` while nothing about them can change. */
  decideRefreshMs?(rows: readonly Item[]): number | null;
};

/** A list that comes in pages, each asked for by the last id of the one before. */
export function usePageQuery<Item extends { id: string }>(
  queryKey: QueryKey,
  askPage: (after: string | undefined) => Promise<Page<Item>>,
  { decideRefreshMs = () => null }: Refresh<Item> = {},
) {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => askPage(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => (page.has_more ? page.data.at(-1)?.id : undefined),
    refetchInterval: ({ state }) => {
      const pages = state.data?.pages ?? [];
      const refreshMs = decideRefreshMs(pages.flatMap(({ data }) => data));
      // Every page is asked for anew, so that who has opened many asks less often.
      return refreshMs === null ? false : refreshMs * pages.length;
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
