import { useCallback, useLayoutEffect, useRef } from "react";

/** A function that never changes and calls the latest one, so memoized children do not render again for it. */
export function useStable<Args extends unknown[]>(call: (...args: Args) => void): (...args: Args) => void {
  const latest = useRef(call);
  useLayoutEffect(() => {
    latest.current = call;
  });
  return useCallback((...args) => latest.current(...args), []);
}
