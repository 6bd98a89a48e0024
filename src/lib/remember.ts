import type { Clock } from "./clock.ts";

/**
 * Caches a promise for a while, shared by all callers, so public pages cost almost nothing. Failures are not cached.
 */
export function remember<T>(clock: Clock, forMs: number, ask: () => Promise<T>): () => Promise<T> {
  let known: { answer: Promise<T>; untilMs: number } | null = null;
  return () => {
    if (known !== null && clock.monotonicMs() < known.untilMs) return known.answer;
    const asked = { answer: ask(), untilMs: clock.monotonicMs() + forMs };
    known = asked;
    asked.answer.catch(() => {
      if (known === asked) known = null;
    });
    return asked.answer;
  };
}
