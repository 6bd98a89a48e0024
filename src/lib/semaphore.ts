export type Semaphore = {
  /** Runs work with a permit, first come, first served. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Acquires a permit and returns its release function. Rejects with the signal's reason. */
  enter(signal?: AbortSignal): Promise<() => void>;
  isFull(): boolean;
};

export function createSemaphore(permitsMax: number): Semaphore {
  const waiting = new Set<() => void>();
  let taken = 0;

  function leave(): void {
    const [next] = waiting;
    // Pass the permit to the next waiter.
    if (next === undefined) taken -= 1;
    else next();
  }

  async function waitForPermit(signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const proceed = (): void => {
      waiting.delete(proceed);
      signal?.removeEventListener("abort", abort);
      resolve();
    };
    const abort = (): void => {
      waiting.delete(proceed);
      reject(signal?.reason);
    };
    waiting.add(proceed);
    signal?.addEventListener("abort", abort, { once: true });
    await promise;
  }

  async function enter(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (taken >= permitsMax) await waitForPermit(signal);
    else taken += 1;
    let isInside = true;
    return () => {
      if (isInside) leave();
      isInside = false;
    };
  }

  return {
    enter,
    isFull: () => taken >= permitsMax,
    async run(work) {
      if (taken >= permitsMax) await waitForPermit();
      else taken += 1;
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
