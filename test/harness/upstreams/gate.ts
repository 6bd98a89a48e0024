import { setTimeout as wait } from "node:timers/promises";
import { waitUntil } from "../wait-until.ts";

/** An answer waits here before it goes on. An aborted signal ends the wait with an error. */
export type Passage = { pass(signal: AbortSignal): Promise<void> };

/** A passage that a test opens, so that no test depends on timing. */
export type Gate = Passage & {
  /** Lets all current and future callers pass. */
  open(): void;
  /** Lets through this many more. */
  release(count?: number): void;
  /** How many are waiting now. */
  waitingCount(): number;
  /** Resolves when this many are waiting. */
  reached(count?: number): Promise<void>;
};

export function createGate(): Gate {
  const waiting = new Set<() => void>();
  let isOpen = false;
  let tickets = 0;

  function letThrough(): void {
    for (const go of waiting) {
      if (!isOpen && tickets === 0) return;
      if (!isOpen) tickets -= 1;
      waiting.delete(go);
      go();
    }
  }

  return {
    open() {
      isOpen = true;
      letThrough();
    },
    release(count = 1) {
      tickets += count;
      letThrough();
    },
    waitingCount: () => waiting.size,
    async reached(count = 1) {
      await waitUntil(`${count} answers before the gate`, () => waiting.size >= count);
    },
    pass(signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const giveUp = (): void => {
        waiting.delete(resolve);
        reject(signal.reason);
      };
      if (signal.aborted) giveUp();
      else {
        signal.addEventListener("abort", giveUp, { once: true });
        waiting.add(resolve);
        letThrough();
      }
      return promise.finally(() => signal.removeEventListener("abort", giveUp));
    },
  };
}

/** A passage for manual demonstrations, without a test to open a gate. */
export function createDelay(delayMs: number): Passage {
  return { pass: (signal) => wait(delayMs, undefined, { signal }) };
}

/** Never lets a caller pass. */
export const endlessSilence: Passage = createGate();
