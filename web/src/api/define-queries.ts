import { infiniteQueryOptions, type QueryKey, queryOptions, type UseQueryOptions } from "@tanstack/react-query";

/** A page can be empty and still have a next one: the server stops searching after a while. */
type Page<Item> = { data: Item[]; has_more: boolean; next_cursor?: string | null };

/** Caching options: stale time and refetch interval. */
type Treatment<Data> = Pick<
  UseQueryOptions<Data>,
  "staleTime" | "placeholderData" | "refetchInterval" | "refetchIntervalInBackground"
>;

export type WholeQuery<Data> = ReturnType<typeof createWholeQuery<Data>>;
export type PagedQuery<Item extends { id: string }> = ReturnType<typeof createPagedQuery<Item>>;

function createWholeQuery<Data>(queryKey: QueryKey, ask: () => Promise<Data>, treatment: Treatment<Data>) {
  return { kind: "whole" as const, ...queryOptions({ ...treatment, queryKey, queryFn: ask }) };
}

function createPagedQuery<Item extends { id: string }>(
  queryKey: QueryKey,
  askPage: (after: string | undefined) => Promise<Page<Item>>,
) {
  const options = infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam }) => askPage(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => (page.has_more ? (page.next_cursor ?? page.data.at(-1)?.id) : undefined),
  });
  return { kind: "paged" as const, ...options };
}

/** A query without pages. Its parameters become part of its key. */
export function whole<Parameters extends readonly unknown[], Data>(
  ask: (...parameters: Parameters) => Promise<Data>,
  treatment: Treatment<Data> = {},
) {
  return (key: QueryKey) =>
    (...parameters: Parameters): WholeQuery<Data> =>
      createWholeQuery([...key, ...parameters], () => ask(...parameters), treatment);
}

/** A list in pages, each fetched by the previous page's cursor or last id. */
export function paged<Parameters extends readonly unknown[], Item extends { id: string }>(
  askPage: (after: string | undefined, ...parameters: Parameters) => Promise<Page<Item>>,
) {
  return (key: QueryKey) =>
    (...parameters: Parameters): PagedQuery<Item> =>
      createPagedQuery([...key, ...parameters], (after) => askPage(after, ...parameters));
}

type Definitions<Query> = Record<string, Record<string, (key: QueryKey) => Query>>;
type Named<Table extends Definitions<unknown>> = {
  [Subject in keyof Table]: { [Name in keyof Table[Subject]]: ReturnType<Table[Subject][Name]> };
};

/** Gives each query the key [subject, name]. Property names are unique, so no two queries share a key. */
export function nameQueries<const Table extends Definitions<unknown>>(table: Table): Named<Table> {
  const subjects = Object.entries(table).map(([subject, queries]) => {
    const named = Object.entries(queries).map(([name, define]) => [name, define([subject, name])]);
    return [subject, Object.fromEntries(named)];
  });
  // TypeScript cannot follow the type through the loop.
  return Object.fromEntries(subjects) as Named<Table>;
}
