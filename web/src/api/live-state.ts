/**
 * Whether the server tells of changes: `off` where it does not, so that pages ask from time to time; `broken` where it
 * did a moment ago and is being reached again.
 */
export type LiveState = "off" | "live" | "broken";

const listeners = new Set<() => void>();
let state: LiveState = "off";

export const liveState = {
  get: (): LiveState => state,
  set(next: LiveState): void {
    if (state === next) return;
    state = next;
    for (const listener of listeners) listener();
  },
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
