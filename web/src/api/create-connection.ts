import { computeBackoffMs } from "./compute-backoff.ts";

type ConnectionState = "connected" | "reconnecting";

/** Whether the server is reachable, as known to the pages. */
export type Connection = {
  getState(): ConnectionState;
  subscribe(listener: () => void): () => void;
  /** Call after a request without a response: probes the server until it responds. */
  suspect(): void;
  /** Call when the server may be back: probes without waiting for the backoff. */
  hurry(): void;
};

type ConnectionDependencies = {
  /** Probes the server. */
  probe(): Promise<boolean>;
  random(): number;
};

export function createConnection({ probe, random }: ConnectionDependencies): Connection {
  const listeners = new Set<() => void>();
  let state: ConnectionState = "connected";
  let isProbing = false;
  let endPause: (() => void) | null = null;

  const change = (next: ConnectionState): void => {
    if (state === next) return;
    state = next;
    for (const listener of listeners) listener();
  };

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  // Probe once before reporting: a single failed request proves nothing.
  async function probeUntilAnswered(): Promise<void> {
    for (let attempt = 0; !(await probe()); attempt += 1) {
      change("reconnecting");
      await pause(computeBackoffMs(attempt, random));
    }
    change("connected");
  }

  return {
    getState: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    suspect() {
      if (isProbing) return;
      isProbing = true;
      void probeUntilAnswered().finally(() => {
        isProbing = false;
      });
    },
    hurry: () => endPause?.(),
  };
}
