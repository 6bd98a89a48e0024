import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { isFed } from "./change-kinds.ts";
import { type LiveState, liveState } from "./live-state.ts";

/** What the server tells of is asked for this seldom: to find what changes by time alone, and what was told in vain. */
const fedRefreshMsMin = 60_000;

/** Keeps what pages show of the account true, in every page of the browser by one stream. */
export function useLiveChanges(accountId: string | undefined): void {
  const client = useQueryClient();
  useEffect(() => {
    if (accountId === undefined) return;
    const left = new AbortController();
    // Loaded apart: nothing of it is needed for a page to be shown, and without it pages ask from time to time.
    Promise.all([import("./share-changes.ts"), import("./refresh-changed.ts")])
      .then(([{ shareChanges }, { createChangeRefresh }]) => {
        if (left.signal.aborted) return;
        const leave = shareChanges(`sluice-changes:${accountId}`, {
          onState: liveState.set,
          onChange: createChangeRefresh(client),
        });
        left.signal.addEventListener("abort", leave);
      })
      .catch(() => {});
    return () => left.abort();
  }, [accountId, client]);
}

export function useLiveState(): LiveState {
  return useSyncExternalStore(liveState.subscribe, liveState.get, liveState.get);
}

/** Slows down the asking for what the server tells of, for as long as it does. */
export function useRefreshPace(queryKey: QueryKey): (refreshMs: number | false) => number | false {
  const isTold = useLiveState() === "live" && isFed(queryKey);
  return (refreshMs) => (refreshMs === false || !isTold ? refreshMs : Math.max(refreshMs, fedRefreshMsMin));
}
