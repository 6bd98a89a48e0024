import { computeBackoffMs } from "./compute-backoff.ts";

type ConnectionState = "connected" | "reconnecting";

/** Whether the server can be reached, as far as the pages know. */
export type Connection = {
  getState(): ConnectionState;
  subscribe(listener: () => void): () => void;
  /** Something got no answer: asks the server whether it is there, and goes on asking until it is. */
  suspect(): void;
  /** There is reason to think that the server is back, so that the next probe need not wait. */
  hurry(): void;
};

type ConnectionDependencies = {
  /** Whether the server answers. */
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

  // One request that failed proves nothing, so the first probe comes before anybody is told.
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
