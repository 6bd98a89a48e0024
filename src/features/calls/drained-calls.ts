import type { AccountId } from "../../lib/ids.ts";

/**
 * Calls whose callers have hung up and whose upstreams are read to the end, because only they can tell what was used. Each
 * account has so many places for them in this process.
 */
export type DrainedCalls = {
  /** Answers how to give the place back, once; `null` where the account has none left. */
  take(accountId: AccountId): (() => void) | null;
  /** Resolves when there are none, or when this time is over. */
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
