import { useEffect, useRef, useSyncExternalStore } from "react";
import { connection } from "../../api/console-api.ts";

export function useIsReconnecting(): boolean {
  const isReconnecting = () => connection.getState() === "reconnecting";
  return useSyncExternalStore(connection.subscribe, isReconnecting, isReconnecting);
}

/** Runs a callback when the server is reachable again. */
export function useOnReconnected(act: () => void): void {
  const latest = useRef(act);
  useEffect(() => {
    latest.current = act;
  });
  useEffect(
    () =>
      connection.subscribe(() => {
        if (connection.getState() === "connected") latest.current();
      }),
    [],
  );
}
