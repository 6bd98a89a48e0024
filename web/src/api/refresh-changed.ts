import type { Query, QueryClient } from "@tanstack/react-query";
import { type ChangeKind, listTreatments } from "./change-kinds.ts";
import { isHeld } from "./pause-query.ts";

/** A running query is checked again after this: its response may predate the change. */
const underWayMs = 250;

/**
 * Refetches changed queries that a visible page shows, each at its own pace. The others are marked stale and refetched
 * when shown.
 */
export function createChangeRefresh(client: QueryClient): (kinds: readonly ChangeKind[]) => void {
  const waiting = new Map<Query, number>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function askAgain(): void {
    clearTimeout(timer);
    // Focus refetches stale queries when the user returns to the page.
    if (document.hidden) waiting.clear();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [query, everyMs] of waiting) {
      const waitMs = decideWaitMs(query, everyMs);
      if (waitMs > 0) {
        nextMs = Math.min(nextMs, waitMs);
        continue;
      }
      waiting.delete(query);
      const { queryKey } = query;
      // The query may have been paused while it waited.
      if (query.isActive() && !isHeld(query))
        void client.refetchQueries({ queryKey, exact: true }, { cancelRefetch: false });
    }
    if (nextMs < Number.POSITIVE_INFINITY) timer = setTimeout(askAgain, nextMs);
  }

  return (kinds) => {
    for (const { query: queryKey, everyMs } of kinds.flatMap(listTreatments)) {
      for (const query of client.getQueryCache().findAll({ queryKey })) {
        if (isHeld(query)) continue;
        query.invalidate();
        if (query.isActive()) waiting.set(query, everyMs);
      }
    }
    askAgain();
  };
}

/** A refetch loads every page of a list, so longer lists refetch less often. */
function decideWaitMs({ state }: Query, everyMs: number): number {
  if (state.fetchStatus === "fetching") return underWayMs;
  const pages = countPages(state.data);
  return state.dataUpdatedAt + everyMs * pages - Date.now();
}

function countPages(data: unknown): number {
  const pages: unknown = typeof data === "object" && data !== null && "pages" in data ? data.pages : null;
  return Array.isArray(pages) ? pages.length : 1;
}
