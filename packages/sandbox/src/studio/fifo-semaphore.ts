/** A semaphore whose waiters are served in order (FIFO). */
export type FifoSemaphore = {
  /** Resolves with a release function. Rejects with the signal's reason if aborted while waiting. */
  acquire(signal: AbortSignal): Promise<() => void>;
};

export function createFifoSemaphore(slotsMax: number): FifoSemaphore {
  let slots = slotsMax;
  const waiting = new Set<() => void>();
  const release = (): void => {
    const [next] = waiting;
    if (next === undefined) slots += 1;
    else next();
  };
  const createRelease = (): (() => void) => {
    let isReleased = false;
    return () => {
      if (!isReleased) release();
      isReleased = true;
    };
  };
  return {
    async acquire(signal) {
      signal.throwIfAborted();
      if (slots > 0) {
        slots -= 1;
        return createRelease();
      }
      return new Promise((resolve, reject) => {
        const onTurn = (): void => {
          waiting.delete(onTurn);
          signal.removeEventListener("abort", onAbort);
          resolve(createRelease());
        };
        const onAbort = (): void => {
          waiting.delete(onTurn);
          reject(signal.reason);
        };
        waiting.add(onTurn);
        signal.addEventListener("abort", onAbort, { once: true });
      });
    },
  };
}
