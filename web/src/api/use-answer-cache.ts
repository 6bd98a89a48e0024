import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import type { WholeQuery } from "./define-queries.ts";
import type { queryTable } from "./query-table.ts";

type Subject = keyof typeof queryTable;

/** What changes the answers that pages have: something was done, or somebody else told what is new. */
export type AnswerCache = {
  /** Asks again for everything about the subjects; what no page shows is asked for when one does. */
  refresh(...subjects: readonly Subject[]): Promise<void>;
  refreshOne<Data>(query: WholeQuery<Data>): Promise<void>;
  refreshAll(): Promise<void>;
  /** Gives up what is being asked about the subject: the answers stay as they are. */
  stop(subject: Subject): Promise<void>;
  write<Data>(query: WholeQuery<Data>, data: Data): void;
  /** What no component shows is as if it had never been asked for, so that a page that broke can begin anew. */
  forgetUnused(): void;
  clear(): void;
};

export function useAnswerCache(): AnswerCache {
  const client = useQueryClient();
  return useMemo(() => createAnswerCache(client), [client]);
}

function createAnswerCache(client: QueryClient): AnswerCache {
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
