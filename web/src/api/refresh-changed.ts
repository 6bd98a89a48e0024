import type { Query, QueryClient } from "@tanstack/react-query";
import { type ChangeKind, listTreatments } from "./change-kinds.ts";
import { isHeld } from "./hold-query.ts";

/** A query that is under way is looked at again after this: what changed since it was asked is not in its answer. */
const underWayMs = 250;

/**
 * Asks again for what changed, where a page shows it. What no page shows, or nobody looks at, only counts as old: it is
 * asked for when somebody does. However fast changes come, each query has its pace.
 */
export function createChangeRefresh(client: QueryClient): (kinds: readonly ChangeKind[]) => void {
  const waiting = new Map<Query, number>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function askAgain(): void {
    clearTimeout(timer);
    // Whoever comes back to the page has what is old asked for again by that.
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
      // It may be held since it began to wait.
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

/** Every page of a list is asked for anew, so that who has opened many asks less often. */
function decideWaitMs({ state }: Query, everyMs: number): number {
  if (state.fetchStatus === "fetching") return underWayMs;
  const pages = countPages(state.data);
  return state.dataUpdatedAt + everyMs * pages - Date.now();
}

function countPages(data: unknown): number {
  const pages: unknown = typeof data === "object" && data !== null && "pages" in data ? data.pages : null;
  return Array.isArray(pages) ? pages.length : 1;
}
