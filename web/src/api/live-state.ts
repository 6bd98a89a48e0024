/** State of the change stream. `off`: not available, pages poll. `broken`: reconnecting. */
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
