import type { AccountId } from "../../lib/ids.ts";

/**
 * Calls whose callers have hung up and whose upstreams are read to the end for their usage report. Each account has
 * `placesMax` of them per process.
 */
export type DrainedCalls = {
  /** Returns a function that returns the place, to be called once; `null` if the account has no place left. */
  take(accountId: AccountId): (() => void) | null;
  /** Resolves when there are none, or after `timeoutMs`. */
  untilNone(timeoutMs: number): Promise<void>;
};

export function createDrainedCalls({ placesMax }: { placesMax: number }): DrainedCalls {
  const taken = new Map<AccountId, number>();
  let waiting: (() => void)[] = [];

  function release(accountId: AccountId): void {
    const left = (taken.get(accountId) ?? 1) - 1;
    if (left > 0) taken.set(accountId, left);
    else taken.delete(accountId);
    if (taken.size > 0) return;
    for (const resume of waiting) resume();
    waiting = [];
  }

  return {
    take(accountId) {
      const count = taken.get(accountId) ?? 0;
      if (count >= placesMax) return null;
      taken.set(accountId, count + 1);
      return () => release(accountId);
    },
    async untilNone(timeoutMs) {
      if (taken.size === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, timeoutMs);
      waiting.push(resolve);
      await promise;
      clearTimeout(timer);
    },
  };
}
