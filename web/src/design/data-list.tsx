import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { LoadFailure } from "./load-failure.tsx";
import { Skeleton } from "./skeleton.tsx";

type DataListProps<Item> = {
  label: string;
  query: UseQueryResult<{ data: Item[] }>;
  empty: ReactNode;
  keyOf(item: Item): string;
  children(item: Item): ReactNode;
};

/** Rows of a query with loading, empty and error states. */
export function DataList<Item>({ label, query, empty, keyOf, children }: DataListProps<Item>) {
  if (query.isError) {
    return <LoadFailure title="Could not load this list." error={query.error} onRetry={() => void query.refetch()} />;
  }
  if (query.data === undefined) {
    return (
      <div aria-busy="true" className="flex flex-col gap-3">
        <p className="sr-only">Loading</p>
        <Skeleton className="h-12" />
      </div>
    );
  }
  if (query.data.data.length === 0) return <p className="text-sm text-ink-soft">{empty}</p>;
  return (
    <ul aria-label={label} className="divide-y divide-line border-y border-line">
      {query.data.data.map((item) => (
        <li key={keyOf(item)} className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 py-3">
          {children(item)}
        </li>
      ))}
    </ul>
  );
}

/** A row's title and details. */
export function DataListText({ title, detail }: { title: ReactNode; detail: ReactNode }) {
  return (
    <div className="min-w-0">
      <p className="truncate text-sm font-medium">{title}</p>
      <p className="text-sm text-ink-soft">{detail}</p>
    </div>
  );
}
