import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import type { WholeQuery } from "./define-queries.ts";
import type { queryTable } from "./query-table.ts";

/** Of the console's own queries, or of the operators' pages, which customers do not load. */
type Subject = keyof typeof queryTable | `admin${string}`;

/** Changes to cached responses. */
export type QueryCacheActions = {
  /** Invalidates all queries of the subjects. Queries that no page shows are refetched when shown. */
  refresh(...subjects: readonly Subject[]): Promise<void>;
  refreshOne<Data>(query: WholeQuery<Data>): Promise<void>;
  refreshAll(): Promise<void>;
  /** Cancels running queries of the subject; cached responses stay. */
  stop(subject: Subject): Promise<void>;
  write<Data>(query: WholeQuery<Data>, data: Data): void;
  /** Drops unused responses, so a page that crashed can start over. */
  forgetUnused(): void;
  clear(): void;
};

export function useQueryCache(): QueryCacheActions {
  const client = useQueryClient();
  return useMemo(() => createAnswerCache(client), [client]);
}

function createAnswerCache(client: QueryClient): QueryCacheActions {
  return {
    async refresh(...subjects) {
      await Promise.all(subjects.map((subject) => client.invalidateQueries({ queryKey: [subject] })));
    },
    refreshOne: ({ queryKey }) => client.invalidateQueries({ queryKey }),
    refreshAll: () => client.invalidateQueries(),
    stop: (subject) => client.cancelQueries({ queryKey: [subject] }),
    write: (query, data) => void client.setQueryData(query.queryKey as readonly unknown[], data),
    forgetUnused: () => client.removeQueries({ type: "inactive" }),
    clear: () => client.clear(),
  };
}
