import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { isFed } from "./change-kinds.ts";
import { type LiveState, liveState } from "./live-state.ts";

/** Polling interval with a working stream: catches changes over time and missed events. */
const fedRefreshMsMin = 60_000;

/** Keeps the account's data current in all tabs through one stream. */
export function useLiveChanges(accountId: string | undefined): void {
  const client = useQueryClient();
  useEffect(() => {
    if (accountId === undefined) return;
    const left = new AbortController();
    // Loaded lazily: pages render without it and poll until it is there.
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

/** Slows down polling while the server pushes changes. */
export function useRefreshPace(queryKey: QueryKey): (refreshMs: number | false) => number | false {
  const isTold = useLiveState() === "live" && isFed(queryKey);
  return (refreshMs) => (refreshMs === false || !isTold ? refreshMs : Math.max(refreshMs, fedRefreshMsMin));
}
