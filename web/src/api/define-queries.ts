import { infiniteQueryOptions, type QueryKey, queryOptions, type UseQueryOptions } from "@tanstack/react-query";

/** A page can be empty and still lead on, where its server searched and found nothing so far. */
type Page<Item> = { data: Item[]; has_more: boolean; next_cursor?: string | null };

/** How an answer is treated: how long it counts as fresh, and when it is asked for again. */
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

/** An answer that comes at once. What it is asked with becomes a part of its key. */
export function whole<Parameters extends readonly unknown[], Data>(
  ask: (...parameters: Parameters) => Promise<Data>,
  treatment: Treatment<Data> = {},
) {
  return (key: QueryKey) =>
    (...parameters: Parameters): WholeQuery<Data> =>
      createWholeQuery([...key, ...parameters], () => ask(...parameters), treatment);
}

/** A list that comes in pages, each asked for by the cursor, or else the last id, of the one before. */
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

/**
 * Gives each query its key: the subject and the name that it stands under. No object has the same property twice, so no
 * two queries share a key, and what is in the cache under a key always has one shape.
 */
export function nameQueries<const Table extends Definitions<unknown>>(table: Table): Named<Table> {
  const subjects = Object.entries(table).map(([subject, queries]) => {
    const named = Object.entries(queries).map(([name, define]) => [name, define([subject, name])]);
    return [subject, Object.fromEntries(named)];
  });
  // Built property by property from the table, which the types cannot follow.
  return Object.fromEntries(subjects) as Named<Table>;
}
